//===- DotScaledTest.cpp - Microscaling products against loops -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are small multiples of powers of two, so that every product and sum
// is exact: results must be equal to the last bit.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include "nereid/Support/FloatFormats.h"

#include <cmath>

using namespace nereid;
using namespace nereid::test;

namespace {

class DotScaledTest : public OnTarget {};

constexpr int m = 16, n = 32, k = 64, group = 32;

double valueOfE2m1(int code) {
  static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (code & 8 ? -1 : 1) * magnitudes[code & 7];
}
/// e4m3 and e5m2 of finite codes.
double valueOfFp8(int code, int mantissaBits, int bias) {
  int mantissa = code & ((1 << mantissaBits) - 1);
  int exponent = (code & 127) >> mantissaBits;
  double magnitude = exponent ? std::ldexp(mantissa + (1 << mantissaBits),
                                           exponent - bias - mantissaBits)
                              : std::ldexp(mantissa, 1 - bias - mantissaBits);
  return code & 128 ? -magnitude : magnitude;
}

struct Operand {
  std::string format;
  DType dtype;
  bool packsK = true;
  std::vector<uint16_t> words; ///< of bf16 and fp16
  std::vector<uint8_t> bytes;  ///< of the others
  std::vector<double> values;  ///< [outer][k]
  std::vector<uint8_t> scales; ///< [outer][k / group]
};

/// `outer` is M or N; memory holds [outer][k] for the left operand and
/// [k][outer] for the right one.
Operand make(const std::string &format, int outer, bool isLeft, bool packsK,
             uint32_t seed) {
  Operand result{format, DType::UInt8, packsK, {}, {}, {}, {}};
  std::mt19937 engine(seed);
  result.values.resize(outer * k);
  bool isWide = format == "bf16" || format == "fp16";
  bool isPacked = format == "e2m1";
  result.words.resize(isWide ? outer * k : 0);
  result.bytes.resize(isWide ? 0 : outer * k / (isPacked ? 2 : 1));
  result.dtype = format == "bf16"   ? DType::BFloat16
                 : format == "fp16" ? DType::Float16
                                    : DType::UInt8;
  for (int i = 0; i < outer; ++i) {
    for (int j = 0; j < k; ++j) {
      double &value = result.values[i * k + j];
      int rows = isLeft ? outer : k, columns = isLeft ? k : outer;
      int row = isLeft ? i : j, column = isLeft ? j : i;
      if (isWide) {
        value = static_cast<int>(engine() % 17) - 8;
        result.words[row * columns + column] =
            format == "bf16" ? encodeBFloat16(value) : encodeFloat16(value);
      } else if (!isPacked) {
        // Exponents around the bias.
        bool is43 = format == "e4m3";
        int code = is43 ? 48 + engine() % 24 : 56 + engine() % 12;
        code |= engine() % 2 ? 128 : 0;
        value = valueOfFp8(code, is43 ? 3 : 2, is43 ? 7 : 15);
        result.bytes[row * columns + column] = static_cast<uint8_t>(code);
      } else {
        int code = engine() % 16;
        value = valueOfE2m1(code);
        bool alongColumns = isLeft == packsK;
        int at = alongColumns ? row * (columns / 2) + column / 2
                              : row / 2 * columns + column;
        int half = (alongColumns ? column : row) % 2;
        result.bytes[at] |= static_cast<uint8_t>(code << 4 * half);
        (void)rows;
      }
    }
  }
  for (int i = 0; i < outer * k / group; ++i) {
    result.scales.push_back(static_cast<uint8_t>(124 + engine() % 6));
  }
  return result;
}

void declare(Snippet &snippet, const char *name, Operand &operand) {
  if (operand.words.empty()) {
    snippet.array(name, operand.bytes);
  } else {
    snippet.array(name, operand.words, operand.dtype);
  }
}

std::string loadOf(const Operand &operand, bool isLeft) {
  int rows = isLeft ? m : k, columns = isLeft ? k : n;
  if (operand.format == "e2m1") {
    (isLeft == operand.packsK ? columns : rows) /= 2;
  }
  return "tl.load(" + std::string(isLeft ? "a" : "b") + " + tl.arange(0, " +
         std::to_string(rows) + ")[:, None] * " + std::to_string(columns) +
         " + tl.arange(0, " + std::to_string(columns) + ")[None, :])";
}

void check(const char *target, Operand a, Operand b, bool scaled) {
  std::vector<float> c(m * n), start(m * n, 2);
  std::string scales = scaled ? "tl.load(sa + tl.arange(0, 16)[:, None] * 2 + "
                                "tl.arange(0, 2)[None, :])"
                              : "None";
  Snippet snippet(
      target,
      "o = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, "
      ":]\n"
      "t = tl.load(sb + tl.arange(0, 32)[:, None] * 2 + tl.arange(0, "
      "2)[None, :])\n"
      "r = tl.dot_scaled(" +
          loadOf(a, true) + ", " + scales + ", '" + a.format + "', " +
          loadOf(b, false) + ", t, '" + b.format +
          "', acc=tl.load(i + o), lhs_k_pack=" + (a.packsK ? "True" : "False") +
          ", rhs_k_pack=" + (b.packsK ? "True" : "False") +
          ")\ntl.store(c + o, r)");
  declare(snippet, "a", a);
  snippet.array("sa", a.scales);
  declare(snippet, "b", b);
  snippet.array("sb", b.scales).array("i", start).array("c", c).run();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 2;
      for (int l = 0; l < k; ++l) {
        int at = l / group;
        double x = a.values[i * k + l] *
                   (scaled ? std::ldexp(1, a.scales[i * 2 + at] - 127) : 1);
        double y =
            b.values[j * k + l] * std::ldexp(1, b.scales[j * 2 + at] - 127);
        sum += x * y;
      }
      ASSERT_EQ(c[i * n + j], static_cast<float>(sum))
          << a.format << " x " << b.format << " at " << i << ", " << j;
    }
  }
}

TEST_P(DotScaledTest, EveryPairOfFormats) {
  uint32_t seed = 1;
  for (const char *left : {"e2m1", "e4m3", "e5m2", "bf16", "fp16"}) {
    for (const char *right : {"e2m1", "e4m3", "e5m2", "bf16", "fp16"}) {
      check(GetParam(), make(left, m, true, true, seed),
            make(right, n, false, true, seed + 1), seed % 3 != 0);
      seed += 2;
    }
  }
}

TEST_P(DotScaledTest, PackedAlongTheOtherAxis) {
  check(GetParam(), make("e2m1", m, true, false, 5),
        make("e2m1", n, false, false, 6), true);
}

/// The exponent 255 is NaN, unless fast_math says that there is none.
TEST_P(DotScaledTest, ScaleOfNan) {
  std::vector<uint8_t> x(16 * 32, 56), s(16, 127);
  s[3] = 255;
  std::vector<float> c(16 * 16);
  Snippet(GetParam(),
          "i, j = tl.arange(0, 16), tl.arange(0, 32)\n"
          "v = tl.load(x + i[:, None] * 32 + j[None, :])\n"
          "r = tl.dot_scaled(v, tl.load(s + i)[:, None], 'e4m3', tl.trans(v), "
          "None, 'e4m3')\n"
          "tl.store(c + i[:, None] * 16 + i[None, :], r)")
      .array("x", x)
      .array("s", s)
      .array("c", c)
      .run();
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(std::isnan(c[i]), i / 16 == 3) << i;
  }
}

/// The scales' shape says how many elements share one.
TEST_P(DotScaledTest, GroupsOf16) {
  std::vector<uint8_t> x(16 * 32, 56), s(32); // ones in e4m3
  for (int i = 0; i < 32; ++i) {
    s[i] = 127 + i % 3;
  }
  std::vector<float> c(16 * 16);
  Snippet(GetParam(),
          "i, j = tl.arange(0, 16), tl.arange(0, 32)\n"
          "v = tl.load(x + i[:, None] * 32 + j[None, :])\n"
          "t = tl.load(s + i[:, None] * 2 + tl.arange(0, 2)[None, :])\n"
          "r = tl.dot_scaled(v, t, 'e4m3', tl.trans(v), None, 'e4m3')\n"
          "tl.store(c + i[:, None] * 16 + i[None, :], r)")
      .array("x", x)
      .array("s", s)
      .array("c", c)
      .run();
  for (int i = 0; i < 256; ++i) {
    int row = i / 16;
    EXPECT_EQ(c[i], 16 * (1 << (2 * row % 3)) + 16 * (1 << ((2 * row + 1) % 3)))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, DotScaledTest,
                         testing::Values("interp", "cpu"));

} // namespace
