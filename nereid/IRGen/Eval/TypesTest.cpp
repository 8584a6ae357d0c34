//===- TypesTest.cpp - Promotion and broadcasting ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Types.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace nereid;
using namespace nereid::irgen;
using testing::HasSubstr;

namespace {

std::vector<DType> allTypes() {
  std::vector<DType> types;
  for (int i = 0; i < numDTypes; ++i) {
    types.push_back(static_cast<DType>(i));
  }
  return types;
}

std::string promoted(DType a, DType b,
                     OperatorClass cls = OperatorClass::Plain) {
  std::string why;
  std::optional<ScalarType> type = promote(a, b, cls, why);
  EXPECT_EQ(type.has_value(), why.empty());
  return type ? type->str() : "-";
}

/// The rule as a ladder over ranks, written apart from the implementation.
std::string byRule(DType a, DType b) {
  auto floats = [](DType t) { return isFloat(t); };
  auto fp8 = [](DType t) { return isFloat(t) && bitWidth(t) == 8; };
  if (!floats(a) && !floats(b)) {
    bool sa = isSigned(a), sb = isSigned(b);
    unsigned wa = bitWidth(a), wb = bitWidth(b);
    DType wide = wa >= wb ? a : b;
    if (sa != sb && wa == wb) {
      wide = sa ? b : a; // unsigned wins at equal width
    }
    return std::string(languageName(wide));
  }
  for (DType rung : {DType::Float64, DType::Float32, DType::Float16}) {
    if (a == rung || b == rung) {
      return std::string(languageName(rung));
    }
  }
  if (a == DType::BFloat16 || b == DType::BFloat16) {
    return a == b ? "bfloat16" : "float32";
  }
  if (fp8(a) && fp8(b)) {
    return a == b ? std::string(languageName(a)) : "float16";
  }
  return "-";
}

TEST(Promote, EveryPair) {
  for (DType a : allTypes()) {
    for (DType b : allTypes()) {
      EXPECT_EQ(promoted(a, b), byRule(a, b))
          << languageName(a) << " and " << languageName(b);
    }
  }
}

TEST(Promote, Division) {
  for (DType a : allTypes()) {
    for (DType b : allTypes()) {
      std::string type = promoted(a, b, OperatorClass::Division);
      EXPECT_EQ(type, promoted(b, a, OperatorClass::Division));
      if (isFloat(a) || isFloat(b)) {
        bool isDouble = a == DType::Float64 || b == DType::Float64;
        EXPECT_EQ(type, isDouble ? "float64" : "float32");
      } else if (isSigned(a) != isSigned(b)) {
        EXPECT_EQ(type, "-");
      } else {
        EXPECT_EQ(type, byRule(a, b));
      }
    }
  }
}

TEST(Promote, DivisionBefore39) {
  for (DType a : allTypes()) {
    for (DType b : allTypes()) {
      if (!isFloat(a) && !isFloat(b)) {
        continue;
      }
      // As elsewhere, but in no 16-bit type that an operand has.
      auto half = [](DType t) { return isFloat(t) && bitWidth(t) == 16; };
      bool widens = half(a) || half(b);
      std::string plain = byRule(a, b), why;
      auto type =
          promote(a, b, OperatorClass::Division, why, LanguageVersion::V3_8);
      EXPECT_EQ(type ? type->str() : "-",
                widens && plain != "float64" ? "float32" : plain);
    }
  }
}

TEST(Promote, ExplainsWhatCannotMeet) {
  std::string why;
  EXPECT_FALSE(
      promote(DType::Int32, DType::Float8E5M2, OperatorClass::Plain, why));
  EXPECT_THAT(why, HasSubstr("int32 and float8e5 have no common type"));
  EXPECT_FALSE(promote(ScalarType::pointer(DType::Float16), DType::Int32,
                       OperatorClass::Plain, why));
  EXPECT_THAT(why, HasSubstr("pointer<float16> and int32"));
}

TEST(TypeOfNumber, Integers) {
  std::pair<__int128, std::optional<DType>> cases[] = {
      {0, DType::Int32},
      {INT32_MAX, DType::Int32},
      {INT32_MIN, DType::Int32},
      {__int128{INT32_MAX} + 1, DType::UInt32},
      {UINT32_MAX, DType::UInt32},
      {__int128{UINT32_MAX} + 1, DType::Int64},
      {__int128{INT32_MIN} - 1, DType::Int64},
      {INT64_MAX, DType::Int64},
      {__int128{INT64_MAX} + 1, DType::UInt64},
      {UINT64_MAX, DType::UInt64},
      {__int128{UINT64_MAX} + 1, std::nullopt},
      {__int128{INT64_MIN} - 1, std::nullopt}};
  for (auto [value, type] : cases) {
    EXPECT_EQ(typeOfInteger(value), type) << double(value);
  }
}

TEST(TypeOfNumber, Floats) {
  for (double value : {0.0, -0.0, 1.0, 0x1p-126, 3.4028234663852886e38,
                       double(HUGE_VAL), -double(HUGE_VAL), std::nan("")}) {
    EXPECT_EQ(typeOfFloat(value), DType::Float32) << value;
  }
  for (double value : {0x1p-127, 3.5e38, -1e300, 1e-300}) {
    EXPECT_EQ(typeOfFloat(value), DType::Float64) << value;
  }
}

TEST(Limits, OfIntegers) {
  EXPECT_EQ(minValue(DType::Int8), -128);
  EXPECT_EQ(maxValue(DType::Int8), 127);
  EXPECT_EQ(maxValue(DType::UInt8), 255);
  EXPECT_EQ(maxValue(DType::Int1), 1);
  EXPECT_EQ(minValue(DType::UInt64), 0);
  EXPECT_EQ(minValue(DType::Int64), INT64_MIN);
}

TEST(BroadcastShape, AgainstIndexArithmetic) {
  // Every pair of shapes with extents 1..3 up to rank 3: legal exactly when
  // each aligned pair is equal or has a 1, and the result is the maximum.
  std::vector<llvm::SmallVector<int64_t>> shapes = {{}};
  for (size_t i = 0; i < shapes.size() && shapes[i].size() < 3; ++i) {
    for (int64_t extent = 1; extent <= 3; ++extent) {
      auto longer = shapes[i];
      longer.push_back(extent);
      shapes.push_back(longer);
    }
  }
  for (const auto &a : shapes) {
    for (const auto &b : shapes) {
      auto result = broadcastShape(a, b);
      size_t rank = std::max(a.size(), b.size());
      bool legal = true;
      llvm::SmallVector<int64_t> expected(rank, 1);
      for (size_t i = 1; i <= rank; ++i) {
        int64_t x = i <= a.size() ? a[a.size() - i] : 1;
        int64_t y = i <= b.size() ? b[b.size() - i] : 1;
        legal &= x == y || x == 1 || y == 1;
        expected[rank - i] = std::max(x, y);
      }
      ASSERT_EQ(result.has_value(), legal) << shapeStr(a) << shapeStr(b);
      if (legal) {
        EXPECT_EQ(*result, expected);
      }
    }
  }
}

TEST(Names, OfTypes) {
  EXPECT_EQ(ScalarType(DType::UInt8).str(), "uint8");
  EXPECT_EQ(ScalarType::pointer(DType::Float16).str(), "pointer<float16>");
  EXPECT_EQ(ScalarType::pointer(DType::Float16, true).str(),
            "pointer<const float16>");
  EXPECT_EQ(ScalarType::pointer(DType::Float16).signature(), "*fp16");
  EXPECT_EQ(ScalarType(DType::UInt32).signature(), "u32");
  EXPECT_EQ(str(DType::Float32, {64, 32}), "float32[64, 32]");
}

} // namespace
