//===- DotTest.cpp - Matrix products and carried tensors ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TestKernel.h"
#include "nereid/Conversion/TileToCPU/TileText.h"

#include "nereid/Target/CPU/CpuTarget.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace nereid;

namespace {

/// Row-major [rows, columns] at `pointer` + start.
TextValue block(TileText &t, TextValue pointer, int64_t rows, int64_t columns,
                TextValue start = {}, int64_t stride = 0) {
  TextValue row =
      t.op("arith.muli", t.expand(t.range(rows), 1),
           t.constant("i32", std::to_string(stride ? stride : columns)));
  TextValue offsets =
      t.op("arith.addi", t.broadcast(row, {rows, columns}),
           t.broadcast(t.expand(t.range(columns), 0), {rows, columns}));
  if (!start.name.empty()) {
    offsets = t.op("arith.addi", offsets, start);
  }
  return t.addptr(pointer, offsets);
}

template <typename T>
std::vector<T> randomValues(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T &value : values) {
    value = static_cast<T>(static_cast<int>(random() % 17) - 8);
  }
  return values;
}

/// The bits of a bf16, for small integers.
struct Bf16 {
  Bf16() = default;
  explicit Bf16(int value) {
    float wide = static_cast<float>(value);
    uint32_t word;
    std::memcpy(&word, &wide, 4);
    bits = word >> 16;
  }
  explicit operator float() const {
    uint32_t word = static_cast<uint32_t>(bits) << 16;
    float wide;
    std::memcpy(&wide, &word, 4);
    return wide;
  }
  uint16_t bits = 0;
};

/// c += a b, all in exact small integers, whatever the type.
template <typename T, typename Sum>
void check(const std::string &type, const std::string &sumType,
           const std::string &target, int64_t M, int64_t N, int64_t K,
           bool transposed) {
  TileText t;
  TextValue a = t.ptr(type), b = t.ptr(type), c = t.ptr(sumType);
  TextValue rhs = transposed ? t.transpose(t.load(block(t, b, N, K)), {1, 0})
                             : t.load(block(t, b, K, N));
  TextValue to = block(t, c, M, N);
  t.store(to, t.dot(t.load(block(t, a, M, K)), rhs, t.load(to)));
  TestKernel kernel(t.str(), target);
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  auto a0 = randomValues<T>(M * K, 1), b0 = randomValues<T>(K * N, 2);
  auto c0 = randomValues<Sum>(M * N, 3);
  std::vector<Sum> result = c0;
  kernel.run({1, 1, 1}, a0.data(), b0.data(), result.data());
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      Sum expected = c0[m * N + n];
      for (int64_t k = 0; k < K; ++k) {
        expected += Sum(a0[m * K + k]) *
                    Sum(transposed ? b0[n * K + k] : b0[k * N + n]);
      }
      ASSERT_EQ(result[m * N + n], expected)
          << type << " " << target << " " << M << "x" << N << "x" << K << " at "
          << m << "," << n << (transposed ? " transposed" : "");
    }
  }
}

} // namespace

TEST(Dot, SmallIntegersAreExactInEveryType) {
  for (const std::string &target : runnable({"x86-64", "x86-64-v3", "cpu"})) {
    for (auto [M, N, K] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                              {16, 16, 16},
                                                              {13, 17, 5},
                                                              {64, 64, 32},
                                                              {7, 100, 33},
                                                              {1, 128, 64},
                                                              {64, 3, 64},
                                                              {5, 80, 2}}) {
      for (bool transposed : {false, true}) {
        check<float, float>("f32", "f32", target, M, N, K, transposed);
        check<int8_t, int32_t>("i8", "i32", target, M, N, K, transposed);
      }
      if (M * N < 1000) {
        check<double, double>("f64", "f64", target, M, N, K, false);
      }
    }
  }
}

/// c = a b, where `m` rows and `k` columns of a exist; the rows' numbers,
/// which only the mask sees, begin at `first`.
static std::string maskedRows(int64_t M, int64_t N, int64_t K) {
  TileText t;
  TextValue a = t.ptr("f32"), b = t.ptr("f32"), c = t.ptr("f32");
  TextValue stride = t.argument("i32"), m = t.argument("i32"),
            k = t.argument("i32"), first = t.argument("i32");
  TextValue rows = t.expand(t.range(M), 1), columns = t.expand(t.range(K), 0);
  TextValue numbers = t.op("arith.addi", rows, first);
  TextValue offsets =
      t.op("arith.addi", t.broadcast(t.op("arith.muli", rows, stride), {M, K}),
           t.broadcast(columns, {M, K}));
  TextValue mask =
      t.op("arith.andi", t.broadcast(t.compare("slt", numbers, m), {M, K}),
           t.broadcast(t.compare("slt", columns, k), {M, K}));
  TextValue lhs = t.load(t.addptr(a, offsets), mask, t.constant("f32", "0.0"));
  TextValue zero =
      t.op("arith.mulf", t.load(block(t, c, M, N)), t.constant("f32", "0.0"));
  t.store(block(t, c, M, N), t.dot(lhs, t.load(block(t, b, K, N)), zero));
  return t.str();
}

TEST(Dot, RowsThatDoNotExistAreZero) {
  constexpr int64_t M = 16, N = 32, K = 16;
  constexpr int32_t most = INT32_MAX;
  auto b = randomValues<float>(K * N, 2);
  for (const std::string &target : runnableTargets()) {
    TestKernel kernel(maskedRows(M, N, K), target);
    ASSERT_TRUE(kernel.ok()) << kernel.error();
    for (auto [m, k, first, stride] :
         std::vector<std::array<int32_t, 4>>{{16, 16, 0, 16},
                                             {40, 99, 3, 21},
                                             {15, 16, 0, 17},
                                             {16, 13, 0, 16},
                                             {0, 16, 0, 16},
                                             {17, 16, 2, 16},
                                             {-9, 16, most - 9, 16},
                                             {most, 16, most - 15, 16},
                                             {most - 20, 16, most - 9, 16}}) {
      // Nothing is read of rows and columns that do not exist.
      std::vector<float> a(static_cast<size_t>(M * stride), NAN), c(M * N, 1);
      std::vector<float> values = randomValues<float>(M * K, 1);
      std::vector<float> expected(M * N, 0);
      for (int64_t row = 0; row < M; ++row) {
        auto number = static_cast<int32_t>(static_cast<uint32_t>(first) +
                                           static_cast<uint32_t>(row));
        for (int64_t i = 0; i < std::min<int64_t>(k, K) && number < m; ++i) {
          a[row * stride + i] = values[row * K + i];
          for (int64_t n = 0; n < N; ++n) {
            expected[row * N + n] += values[row * K + i] * b[i * N + n];
          }
        }
      }
      kernel.run({1, 1, 1}, a.data(), b.data(), c.data(), stride, m, k, first);
      EXPECT_EQ(c, expected) << target << " " << m << " " << k << " " << first;
    }
  }
}

/// Operands in both memory orders, as far as the block's edges, with all bytes.
template <typename T, typename Sum>
static void checkLayouts(const std::string &type, const std::string &sumType,
                         const std::string &target, bool isUnsigned = false) {
  for (auto [M, N, K] : std::vector<std::array<int64_t, 3>>{{64, 128, 64},
                                                            {48, 80, 24},
                                                            {20, 64, 36},
                                                            {7, 33, 6},
                                                            {16, 8, 32},
                                                            {48, 80, 128},
                                                            {16, 112, 64}}) {
    for (int order = 0; order < 4; ++order) {
      bool leftTurned = order & 1, rightTurned = order & 2;
      TileText t;
      TextValue a = t.ptr(type), b = t.ptr(type), c = t.ptr(sumType);
      TextValue lhs = leftTurned
                          ? t.transpose(t.load(block(t, a, K, M)), {1, 0})
                          : t.load(block(t, a, M, K));
      TextValue rhs = rightTurned
                          ? t.transpose(t.load(block(t, b, N, K)), {1, 0})
                          : t.load(block(t, b, K, N));
      TextValue to = block(t, c, M, N);
      TextValue sum = t.dot(lhs, rhs, t.load(to));
      t.store(to, sum);
      std::string text = t.str();
      if (isUnsigned) {
        size_t at = text.find("tile.dot");
        text.insert(text.find(" :", at), " {isUnsigned}");
      }
      TestKernel kernel(text, target);
      ASSERT_TRUE(kernel.ok()) << kernel.error() << text;
      std::mt19937 random(order + 1);
      std::vector<T> a0(M * K), b0(K * N);
      for (std::vector<T> *values : {&a0, &b0}) {
        for (T &value : *values) {
          value = T(static_cast<int>(random() % 256) - (isUnsigned ? 0 : 128));
        }
      }
      std::vector<Sum> result(M * N, Sum(3));
      kernel.run({1, 1, 1}, a0.data(), b0.data(), result.data());
      for (int64_t m = 0; m < M; ++m) {
        for (int64_t n = 0; n < N; ++n) {
          Sum expected = 3;
          for (int64_t k = 0; k < K; ++k) {
            expected += Sum(a0[leftTurned ? k * M + m : m * K + k]) *
                        Sum(b0[rightTurned ? n * K + k : k * N + n]);
          }
          ASSERT_EQ(result[m * N + n], expected)
              << type << " " << target << " " << M << "x" << N << "x" << K
              << " order " << order << " at " << m << "," << n;
        }
      }
    }
  }
}

// x86-64-v2 has the forms of x86-64.
TEST(Dot, EveryOrderOfNarrowOperands) {
  for (const std::string &target : runnableTargets()) {
    if (target == "x86-64-v2") {
      continue;
    }
    checkLayouts<Bf16, float>("bf16", "f32", target);
    checkLayouts<int8_t, int32_t>("i8", "i32", target);
    checkLayouts<uint8_t, int32_t>("i8", "i32", target, true);
  }
}

TEST(Dot, EveryOrderOfWideOperands) {
  checkLayouts<float, float>("f32", "f32", "x86-64");
  checkLayouts<float, float>("f32", "f32", "cpu");
  checkLayouts<double, double>("f64", "f64", "cpu");
}

TEST(Dot, InstructionsThatMultiplyNarrowNeighbours) {
  auto assembly = [](const std::string &type, const std::string &sum,
                     const std::string &target) {
    TileText t;
    TextValue a = t.ptr(type), b = t.ptr(type), c = t.ptr(sum);
    TextValue to = block(t, c, 64, 64);
    t.store(to, t.dot(t.load(block(t, a, 64, 64)), t.load(block(t, b, 64, 64)),
                      t.load(to)));
    return stageText(t.str(), "asm", target);
  };
  using testing::HasSubstr;
  EXPECT_THAT(assembly("bf16", "f32", "x86-64-v4-bf16"),
              HasSubstr("vdpbf16ps"));
  EXPECT_THAT(assembly("i8", "i32", "x86-64-v4-bf16"), HasSubstr("vpdpbusd"));
  EXPECT_THAT(assembly("bf16", "f32", "x86-64-v4-amx"), HasSubstr("tdpbf16ps"));
  EXPECT_THAT(assembly("i8", "i32", "x86-64-v4-amx"), HasSubstr("tdpbssd"));
  for (const char *target : {"x86-64-v3", "x86-64-v4"}) {
    EXPECT_THAT(assembly("bf16", "f32", target), HasSubstr("vfmadd"));
    EXPECT_THAT(assembly("i8", "i32", target), HasSubstr("vpmaddwd"));
  }
}

TEST(Dot, AccumulatorOfALoopIsUpdatedInPlace) {
  // c = sum over 5 blocks of a[:, 16 i:][:, :16] b[16 i:, :].
  TileText t;
  TextValue a = t.ptr("f32"), b = t.ptr("f32"), c = t.ptr("f32");
  TextValue zero = t.constant("f32", "0.0", {24, 40});
  auto sums = t.loop(
      t.constant("i32", "5"), {zero},
      [&](TextValue i, std::vector<TextValue> carried) {
        TextValue k = t.op("arith.muli", i, t.constant("i32", "16"));
        TextValue left = t.load(block(t, a, 24, 16, k, 80));
        TextValue right = t.load(block(
            t, b, 16, 40, t.op("arith.muli", k, t.constant("i32", "40")), 40));
        return std::vector<TextValue>{t.dot(left, right, carried[0])};
      });
  t.store(block(t, c, 24, 40), sums[0]);
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  auto a0 = randomValues<float>(24 * 80, 1),
       b0 = randomValues<float>(80 * 40, 2);
  std::vector<float> c0(24 * 40);
  kernel.run({1, 1, 1}, a0.data(), b0.data(), c0.data());
  for (int m = 0; m < 24; ++m) {
    for (int n = 0; n < 40; ++n) {
      float expected = 0;
      for (int k = 0; k < 80; ++k) {
        expected += a0[m * 80 + k] * b0[k * 40 + n];
      }
      ASSERT_EQ(c0[m * 40 + n], expected) << m << "," << n;
    }
  }
  // One accumulator, one panel of each operand, nothing copied.
  TestKernel named(t.str(), "x86-64-v4");
  EXPECT_LE(named.info().scratchBytes,
            4u * (24 * 40 + 24 * 16 + 16 * 40) + 1280);
}

TEST(Dot, SumsOfALoopStayWhereTheyAre) {
  // c = sum over 3 blocks of a[:, 64 i:][:, :64] b[64 i:, :]; both operands in
  // both orders, as gradients of a linear layer have them.
  constexpr int64_t M = 48, N = 96, K = 192, depth = 64;
  for (int order = 0; order < 4; ++order) {
    bool leftTurned = order & 1, rightTurned = order & 2;
    TileText t;
    TextValue a = t.ptr("bf16"), b = t.ptr("bf16"), c = t.ptr("f32");
    auto sums = t.loop(
        t.constant("i32", "3"), {t.constant("f32", "0.0", {M, N})},
        [&](TextValue i, std::vector<TextValue> carried) {
          TextValue k =
              t.op("arith.muli", i, t.constant("i32", std::to_string(depth)));
          auto times = [&](int64_t n) {
            return t.op("arith.muli", k, t.constant("i32", std::to_string(n)));
          };
          TextValue left =
              leftTurned
                  ? t.transpose(t.load(block(t, a, depth, M, times(M))), {1, 0})
                  : t.load(block(t, a, M, depth, k, K));
          TextValue right =
              rightTurned
                  ? t.transpose(t.load(block(t, b, N, depth, k, K)), {1, 0})
                  : t.load(block(t, b, depth, N, times(N)));
          return std::vector<TextValue>{t.dot(left, right, carried[0])};
        });
    t.store(block(t, c, M, N), sums[0]);
    TestKernel kernel(t.str());
    ASSERT_TRUE(kernel.ok()) << kernel.error();
    auto a0 = randomValues<Bf16>(M * K, 1), b0 = randomValues<Bf16>(K * N, 2);
    std::vector<float> c0(M * N, -1);
    kernel.run({1, 1, 1}, a0.data(), b0.data(), c0.data());
    for (int64_t m = 0; m < M; ++m) {
      for (int64_t n = 0; n < N; ++n) {
        float expected = 0;
        for (int64_t k = 0; k < K; ++k) {
          expected += float(a0[leftTurned ? k * M + m : m * K + k]) *
                      float(b0[rightTurned ? n * K + k : k * N + n]);
        }
        ASSERT_EQ(c0[m * N + n], expected)
            << "order " << order << " at " << m << "," << n;
      }
    }
  }
}

TEST(Carried, TensorsThatALoopSwaps) {
  TileText t;
  TextValue x = t.ptr("i32"), y = t.ptr("i32"), count = t.argument("i32");
  TextValue range = t.range(50);
  TextValue px = t.addptr(x, range), py = t.addptr(y, range);
  auto pair = t.loop(count, {t.load(px), t.load(py)},
                     [&](TextValue, std::vector<TextValue> v) {
                       TextValue sum = t.op("arith.addi", v[0], v[1]);
                       return std::vector<TextValue>{v[1], sum};
                     });
  t.store(px, pair[0]);
  t.store(py, pair[1]);
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  for (int n : {0, 1, 2, 9}) {
    std::vector<int32_t> x0(50), y0(50);
    for (int i = 0; i < 50; ++i) {
      x0[i] = i;
      y0[i] = 1;
    }
    kernel.run({1, 1, 1}, x0.data(), y0.data(), n);
    for (int i = 0; i < 50; ++i) {
      int a = i, b = 1;
      for (int k = 0; k < n; ++k) {
        int sum = a + b;
        a = b;
        b = sum;
      }
      ASSERT_EQ(x0[i], a) << n;
      ASSERT_EQ(y0[i], b) << n;
    }
  }
}
