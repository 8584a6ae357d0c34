//===- FloatFormatTest.cpp - Formats against LLVM's APFloat ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/FloatFormat.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <random>

using namespace nereid::interp;

namespace {

struct Case {
  mlir::FloatType type;
  const FloatFormat &format;
};

class FloatFormatTest : public testing::Test {
protected:
  std::vector<Case> cases() {
    mlir::MLIRContext *c = &context;
    std::vector<Case> all;
    for (mlir::FloatType type : std::initializer_list<mlir::FloatType>{
             mlir::Float8E4M3FNType::get(c), mlir::Float8E5M2Type::get(c),
             mlir::Float16Type::get(c), mlir::BFloat16Type::get(c),
             mlir::Float32Type::get(c), mlir::Float64Type::get(c)}) {
      all.push_back({type, *findFormat(type)});
    }
    return all;
  }

  /// Every pattern of up to 16 bits, random ones beyond.
  std::vector<uint64_t> patterns(const FloatFormat &format) {
    std::vector<uint64_t> bits;
    for (uint64_t i = 0; i < 1 << 16; ++i) {
      uint64_t pattern = format.bits <= 16 ? i : random();
      bits.push_back(pattern & (~uint64_t{0} >> (64 - format.bits)));
    }
    return bits;
  }

  mlir::MLIRContext context;
  std::mt19937_64 random{7};
};

TEST_F(FloatFormatTest, DecodeIsAPFloat) {
  for (const Case &c : cases()) {
    for (uint64_t bits : patterns(c.format)) {
      llvm::APFloat expected(c.type.getFloatSemantics(),
                             llvm::APInt(c.format.bits, bits));
      double value = decode(c.format, bits);
      ASSERT_EQ(expected.isNaN(), std::isnan(value)) << bits;
      if (!expected.isNaN()) {
        bool lost;
        expected.convert(llvm::APFloat::IEEEdouble(),
                         llvm::APFloat::rmNearestTiesToEven, &lost);
        ASSERT_EQ(std::bit_cast<uint64_t>(expected.convertToDouble()),
                  std::bit_cast<uint64_t>(value));
      }
    }
  }
}

TEST_F(FloatFormatTest, EncodeInvertsDecodeOnEveryPattern) {
  for (const Case &c : cases()) {
    for (uint64_t bits : patterns(c.format)) {
      ASSERT_EQ(encode(c.format, decode(c.format, bits)), bits);
    }
  }
}

/// Values that land on, between and just beside numbers of the format, below
/// the smallest and above the largest.
static double interesting(std::mt19937_64 &random, const FloatFormat &format) {
  double x = decode(format, random() & (~uint64_t{0} >> (64 - format.bits)));
  double step = spacing(format, std::fabs(x));
  switch (random() % 6) {
  case 0:
    return x + step / 2;
  case 1:
    return std::nextafter(x + step / 2, 0.0);
  case 2:
    return x * 1.37;
  case 3:
    return std::copysign(format.maxFinite + step * double(random() % 3), x);
  case 4:
    return std::bit_cast<double>(random());
  default:
    return x + step * 0.3;
  }
}

TEST_F(FloatFormatTest, RoundIsAPFloat) {
  for (const Case &c : cases()) {
    for (int i = 0; i < 100000; ++i) {
      double x = interesting(random, c.format);
      for (Direction direction : {Direction::Nearest, Direction::TowardZero}) {
        llvm::APFloat expected(x);
        bool lost;
        expected.convert(c.type.getFloatSemantics(),
                         direction == Direction::Nearest
                             ? llvm::APFloat::rmNearestTiesToEven
                             : llvm::APFloat::rmTowardZero,
                         &lost);
        double rounded = round(c.format, x, direction);
        // APFloat keeps an E4M3FN overflow toward zero finite; so do we not:
        // no operation rounds to 8 bits without saturating.
        if (!c.format.hasInfinity && std::fabs(x) > c.format.maxFinite) {
          continue;
        }
        ASSERT_EQ(expected.isNaN(), std::isnan(rounded)) << x;
        if (!expected.isNaN()) {
          ASSERT_EQ(encode(c.format, rounded),
                    expected.bitcastToAPInt().getZExtValue())
              << x << " to " << c.format.bits << " bits";
        }
      }
    }
  }
}

TEST_F(FloatFormatTest, SaturationKeepsTheSignAndNaN) {
  for (const Case &c : cases()) {
    double limit = c.format.maxFinite;
    EXPECT_EQ(roundSaturating(c.format, INFINITY, Direction::Nearest), limit);
    EXPECT_EQ(roundSaturating(c.format, -INFINITY, Direction::TowardZero),
              -limit);
    EXPECT_TRUE(std::isnan(roundSaturating(c.format, NAN, Direction::Nearest)));
    EXPECT_EQ(roundSaturating(c.format, 1.0, Direction::Nearest), 1.0);
  }
}

} // namespace
