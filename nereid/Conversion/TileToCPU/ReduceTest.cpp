//===- ReduceTest.cpp - Reductions and scans against plain loops ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TestKernel.h"
#include "nereid/Conversion/TileToCPU/TileText.h"

#include "gtest/gtest.h"

#include <random>

using namespace nereid;

namespace {

/// x[rows, columns] of one program, row-major, without masks.
struct Block {
  TileText t;
  TextValue from, to, value;
  int64_t rows, columns;

  Block(int64_t rows, int64_t columns, const std::string &type)
      : rows(rows), columns(columns) {
    from = t.ptr(type);
    to = t.ptr(type);
    value = t.load(t.addptr(from, offsets()));
  }
  TextValue offsets() {
    TextValue row = t.op("arith.muli", t.expand(t.range(rows), 1),
                         t.constant("i32", std::to_string(columns)));
    TextValue column = t.expand(t.range(columns), 0);
    return t.op("arith.addi", t.broadcast(row, {rows, columns}),
                t.broadcast(column, {rows, columns}));
  }
};

std::vector<int32_t> randomInts(size_t count) {
  std::mt19937 random(7);
  std::vector<int32_t> values(count);
  for (int32_t &value : values) {
    value = static_cast<int32_t>(random());
  }
  return values;
}

const std::vector<std::pair<int64_t, int64_t>> shapes = {
    {1, 1}, {3, 5}, {16, 64}, {64, 17}, {127, 2}, {2, 1031}, {33, 128}};

} // namespace

TEST(Reduce, IntegersAlongBothAxes) {
  for (const std::string &target : runnable({"x86-64", "x86-64-v3", "cpu"})) {
    for (auto [rows, columns] : shapes) {
      for (int axis : {0, 1}) {
        for (const char *combine :
             {"arith.addi", "arith.maxsi", "arith.xori", "arith.muli"}) {
          Block block(rows, columns, "i32");
          TextValue r = block.t.reduce(block.value, axis, combine);
          block.t.store(block.t.addptr(block.to, block.t.range(r.shape[0])), r);
          TestKernel kernel(block.t.str(), target);
          ASSERT_TRUE(kernel.ok()) << kernel.error();
          std::vector<int32_t> x = randomInts(rows * columns);
          std::vector<int32_t> y(r.shape[0] + 1, -7);
          kernel.run({1, 1, 1}, x.data(), y.data());
          EXPECT_EQ(y.back(), -7);
          for (int64_t i = 0; i < r.shape[0]; ++i) {
            int64_t count = axis == 0 ? rows : columns;
            int32_t expected = 0;
            for (int64_t j = 0; j < count; ++j) {
              int32_t v = axis == 0 ? x[j * columns + i] : x[i * columns + j];
              std::string op = combine;
              expected = j == 0                ? v
                         : op == "arith.addi"  ? int32_t(uint32_t(expected) + v)
                         : op == "arith.maxsi" ? std::max(expected, v)
                         : op == "arith.xori"
                             ? expected ^ v
                             : int32_t(uint32_t(expected) * uint32_t(v));
            }
            ASSERT_EQ(y[i], expected)
                << target << " " << combine << " " << rows << "x" << columns
                << " axis " << axis << " i " << i;
          }
        }
      }
    }
  }
}

TEST(Reduce, ArgmaxHasNoIdentityAndBreaksTiesToTheLeft) {
  for (int64_t size : {1, 2, 15, 16, 17, 100, 1000}) {
    TileText t;
    TextValue x = t.ptr("f32"), v = t.ptr("f32"), w = t.ptr("i32");
    TextValue range = t.range(size);
    auto best = t.argmax(t.load(t.addptr(x, range)), range, 0);
    t.store(v, best[0]);
    t.store(w, best[1]);
    TestKernel kernel(t.str());
    ASSERT_TRUE(kernel.ok()) << kernel.error();
    std::vector<float> values(size);
    for (int64_t i = 0; i < size; ++i) {
      values[i] = static_cast<float>((i * 37) % 11) - 20;
    }
    float value = 0;
    int32_t index = -1;
    kernel.run({1, 1, 1}, values.data(), &value, &index);
    auto expected = std::max_element(values.begin(), values.end());
    EXPECT_EQ(value, *expected) << size;
    EXPECT_EQ(index, expected - values.begin()) << size;
  }
}

TEST(Reduce, HalfSumsAreKeptInFloat) {
  // 4096 ones: in f16, 2048 + 1 is 2048.
  TileText t;
  TextValue x = t.ptr("f16"), y = t.ptr("f16");
  t.store(y, t.reduce(t.load(t.addptr(x, t.range(4096))), 0, "arith.addf"));
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::vector<uint16_t> ones(4096, 0x3c00);
  uint16_t sum = 0;
  kernel.run({1, 1, 1}, ones.data(), &sum);
  EXPECT_EQ(sum, 0x6c00); // 4096
}

TEST(Reduce, SameBitsForEverySplitOfTheGrid) {
  TileText t;
  TextValue x = t.ptr("f32"), y = t.ptr("f32");
  TextValue id = t.programId(0);
  TextValue start = t.op("arith.muli", id, t.constant("i32", "777"));
  TextValue values = t.load(t.addptr(t.addptr(x, start), t.range(777)));
  t.store(t.addptr(y, id), t.reduce(values, 0, "arith.addf"));
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::mt19937 random(3);
  std::vector<float> data(777 * 9);
  for (float &value : data) {
    value = std::generate_canonical<float, 24>(random) - 0.5f;
  }
  std::vector<float> once(9), apart(9);
  kernel.run({9, 1, 1}, data.data(), once.data());
  for (int p = 8; p >= 0; --p) {
    kernel.launch(
        {9, 1, 1},
        {TestKernel::slotOf(data.data()), TestKernel::slotOf(apart.data())}, 0,
        p, p + 1);
  }
  EXPECT_EQ(once, apart);
}

TEST(Scan, IntegersBothWaysAlongBothAxes) {
  for (const std::string &target : runnable({"x86-64", "cpu"})) {
    for (auto [rows, columns] : shapes) {
      for (int axis : {0, 1}) {
        for (bool reverse : {false, true}) {
          Block block(rows, columns, "i32");
          TextValue r = block.t.scan(block.value, axis, "arith.addi", reverse);
          block.t.store(block.t.addptr(block.to, block.offsets()), r);
          TestKernel kernel(block.t.str(), target);
          ASSERT_TRUE(kernel.ok()) << kernel.error();
          std::vector<int32_t> x = randomInts(rows * columns), y(x.size());
          kernel.run({1, 1, 1}, x.data(), y.data());
          int64_t count = axis == 0 ? rows : columns;
          int64_t others = axis == 0 ? columns : rows;
          for (int64_t o = 0; o < others; ++o) {
            uint32_t sum = 0;
            for (int64_t k = 0; k < count; ++k) {
              int64_t j = reverse ? count - 1 - k : k;
              int64_t at = axis == 0 ? j * columns + o : o * columns + j;
              sum += static_cast<uint32_t>(x[at]);
              ASSERT_EQ(static_cast<uint32_t>(y[at]), sum)
                  << target << " " << rows << "x" << columns << " axis " << axis
                  << " reverse " << reverse << " at " << at;
            }
          }
        }
      }
    }
  }
}
