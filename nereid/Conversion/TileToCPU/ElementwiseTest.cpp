//===- ElementwiseTest.cpp - Loads, stores and arithmetic -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TestKernel.h"
#include "nereid/Conversion/TileToCPU/TileText.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>
#include <random>

using namespace nereid;

static std::vector<float> randomFloats(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values) {
    value = normal(random);
  }
  return values;
}

/// Every instruction set that this machine can run.
static std::vector<std::string> targets() { return runnableTargets(); }

static std::string vectorAdd(int64_t block) {
  TileText t;
  TextValue x = t.ptr("f32"), y = t.ptr("f32"), z = t.ptr("f32");
  TextValue n = t.argument("i32");
  TextValue start = t.op("arith.muli", t.programId(0),
                         t.constant("i32", std::to_string(block)));
  TextValue offsets = t.op("arith.addi", start, t.range(block));
  TextValue mask = t.compare("slt", offsets, n);
  TextValue sum = t.op("arith.addf", t.load(t.addptr(x, offsets), mask),
                       t.load(t.addptr(y, offsets), mask));
  t.store(t.addptr(z, offsets), sum, mask);
  return t.str();
}

TEST(Elementwise, VectorAddAtAwkwardSizes) {
  for (const std::string &target : targets()) {
    for (int64_t block : {1, 3, 16, 17, 64, 100, 1024}) {
      TestKernel kernel(vectorAdd(block), target);
      ASSERT_TRUE(kernel.ok()) << kernel.error();
      EXPECT_EQ(kernel.info().writtenParameters,
                std::vector<bool>({false, false, true, false}));
      for (int n : {1, 2, 7, 15, 16, 17, 127, 1023, 1025, 2500}) {
        std::vector<float> x = randomFloats(n, 1), y = randomFloats(n, 2);
        std::vector<float> z(n + 2, -7);
        int programs = (n + block - 1) / block;
        for (uint32_t flags : {0u, 1u}) {
          std::fill(z.begin(), z.end(), -7);
          kernel.launch(
              {programs, 1, 1},
              {TestKernel::slotOf(x.data()), TestKernel::slotOf(y.data()),
               TestKernel::slotOf(z.data() + 1), TestKernel::slotOf(n)},
              flags);
          EXPECT_EQ(z[0], -7);
          EXPECT_EQ(z[n + 1], -7);
          for (int i = 0; i < n; ++i) {
            ASSERT_EQ(z[i + 1], x[i] + y[i])
                << target << " block " << block << " n " << n << " i " << i;
          }
        }
      }
    }
  }
}

/// y = x + x and z = x of n elements.
static std::string twoStores(int64_t block) {
  TileText t;
  TextValue y = t.ptr("i16"), z = t.ptr("i16"), x = t.ptr("i16");
  TextValue n = t.argument("i32");
  TextValue offsets = t.op("arith.addi",
                           t.op("arith.muli", t.programId(0),
                                t.constant("i32", std::to_string(block))),
                           t.range(block));
  TextValue mask = t.compare("slt", offsets, n);
  TextValue values = t.load(t.addptr(x, offsets), mask);
  t.store(t.addptr(y, offsets), t.op("arith.addi", values, values), mask);
  t.store(t.addptr(z, offsets), values, mask);
  return t.str();
}

TEST(Elementwise, StoresPastTheCachesBeginAnywhere) {
  constexpr int most = 1100;
  std::vector<int16_t> x(most), y(most + 80), z(most + 80);
  std::iota(x.begin(), x.end(), 1);
  for (const std::string &target : targets()) {
    for (int64_t block : {100, 512}) {
      TestKernel kernel(twoStores(block), target);
      ASSERT_TRUE(kernel.ok()) << kernel.error();
      for (int n : {1, 31, 64, 500, 1057}) {
        for (auto [first, second] :
             {std::pair(0, 0), {1, 1}, {31, 31}, {32, 0}, {5, 6}, {33, 1}}) {
          std::fill(y.begin(), y.end(), -7);
          std::fill(z.begin(), z.end(), -7);
          // In place: what the lines before the first one hold is read once.
          std::copy_n(x.begin(), n, y.begin() + first);
          kernel.launch({static_cast<int>((n + block - 1) / block), 1, 1},
                        {TestKernel::slotOf(y.data() + first),
                         TestKernel::slotOf(z.data() + second),
                         TestKernel::slotOf(y.data() + first),
                         TestKernel::slotOf(n)},
                        StreamingStores);
          for (int i = 0; i < most; ++i) {
            bool isY = i >= first && i < first + n,
                 isZ = i >= second && i < second + n;
            ASSERT_EQ(y[i], isY ? 2 * x[i - first] : -7)
                << target << " " << block << " " << n << " " << first << " "
                << i;
            ASSERT_EQ(z[i], isZ ? x[i - second] : -7)
                << target << " " << block << " " << n << " " << second << " "
                << i;
          }
        }
      }
    }
  }
}

/// Rows in programs, columns in a block: y = softmax(x).
static std::string softmax(int64_t block, const std::string &type) {
  TileText t;
  TextValue y = t.ptr(type), x = t.ptr(type);
  TextValue stride = t.argument("i32"), n = t.argument("i32");
  TextValue row = t.op("arith.muli", t.programId(0), stride);
  TextValue columns = t.range(block);
  TextValue mask = t.compare("slt", columns, n);
  TextValue from = t.addptr(t.addptr(x, row), columns);
  TextValue other = t.constant(type, type == "f32" ? "0xFF800000" : "0xFF80");
  TextValue values = t.load(from, mask, other);
  if (type != "f32") {
    values = t.convert("arith.extf", values, "f32");
  }
  TextValue shifted =
      t.op("arith.subf", values, t.reduce(values, 0, "arith.maxnumf"));
  TextValue numerator = t.unary("math.exp", shifted);
  TextValue result =
      t.op("arith.divf", numerator, t.reduce(numerator, 0, "arith.addf"));
  if (type != "f32") {
    result = t.convert("arith.truncf", result, type);
  }
  t.store(t.addptr(t.addptr(y, row), columns), result, mask);
  return t.str();
}

TEST(Elementwise, Softmax) {
  for (const std::string &target : targets()) {
    for (int64_t block : {1, 5, 64, 781, 1024}) {
      TestKernel kernel(softmax(block, "f32"), target);
      ASSERT_TRUE(kernel.ok()) << kernel.error();
      for (int64_t n = 1; n <= block; n = n * 3 + 1) {
        int rows = 3, stride = n + 3;
        std::vector<float> x = randomFloats(rows * stride),
                           y(rows * stride, -7);
        kernel.run({rows, 1, 1}, y.data(), x.data(), stride,
                   static_cast<int>(n));
        for (int r = 0; r < rows; ++r) {
          double largest = -1e30, sum = 0;
          for (int c = 0; c < n; ++c) {
            largest = std::max<double>(largest, x[r * stride + c]);
          }
          for (int c = 0; c < n; ++c) {
            sum += std::exp(x[r * stride + c] - largest);
          }
          for (int c = 0; c < stride; ++c) {
            double expected =
                c < n ? std::exp(x[r * stride + c] - largest) / sum : -7;
            ASSERT_NEAR(y[r * stride + c], expected,
                        1e-6 * std::abs(expected) + 1e-30)
                << target << " block " << block << " n " << n << " c " << c;
          }
        }
      }
    }
  }
}
