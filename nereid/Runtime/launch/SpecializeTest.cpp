//===- SpecializeTest.cpp - Every rule of argument specialization ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/Specialize.h"

#include <bit>
#include <gtest/gtest.h>

using namespace nereid;

namespace {
struct Rule {
  bool specialize = true, alignment = true;
  std::optional<DType> dtype = std::nullopt;
  bool isPointer = false, isStatic = false;
};

/// "static 1", "int32 d", "int64", "*fp16 d", or "mismatch": d marks divisible
/// by 16.
std::string result(const Argument &argument, Rule rule = {}) {
  ParameterDescription p;
  p.name = "p";
  p.specialize = rule.specialize;
  p.specializeAlignment = rule.alignment;
  p.dtype = rule.dtype;
  p.isPointer = rule.isPointer;
  p.isStatic = rule.isStatic;
  Specialized s;
  if (specialize(p, argument, s) != ArgumentMismatch::None) {
    return "mismatch";
  }
  if (s.isStatic) {
    return "static " + argument.toStatic().str();
  }
  return std::string(s.runtime.isPointer ? "*" : "") +
         std::string(shortName(s.runtime.dtype)) +
         (s.runtime.divisibleBy16 ? " d" : "");
}

uint64_t slotOf(const Argument &argument, DType dtype) {
  ParameterDescription p;
  p.dtype = dtype;
  Specialized s;
  EXPECT_EQ(specialize(p, argument, s), ArgumentMismatch::None);
  return s.slot;
}
} // namespace

TEST(Specialize, PlainIntegers) {
  EXPECT_EQ(result(1), "static 1");
  EXPECT_EQ(result(int8_t{1}), "static 1");
  EXPECT_EQ(result(uint64_t{1}), "static 1");
  EXPECT_EQ(result(0), "i32 d");
  EXPECT_EQ(result(2), "i32");
  EXPECT_EQ(result(16), "i32 d");
  EXPECT_EQ(result(-16), "i32 d");
  EXPECT_EQ(result(-1), "i32");
  EXPECT_EQ(result(INT32_MAX), "i32");
  EXPECT_EQ(result(INT32_MIN), "i32 d");
  EXPECT_EQ(result(int64_t{INT32_MAX} + 1), "i64 d");
  EXPECT_EQ(result(int64_t{INT32_MIN} - 1), "i64");
  EXPECT_EQ(result(INT64_MAX), "i64");
  EXPECT_EQ(result(uint64_t{1} << 63), "u64 d");
  EXPECT_EQ(result(UINT64_MAX), "u64");
}

TEST(Specialize, OtherValues) {
  EXPECT_EQ(result(true), "i1");
  EXPECT_EQ(result(false), "i1");
  EXPECT_EQ(result(1.0), "fp32");
  EXPECT_EQ(result(16.0f), "fp32");
  EXPECT_EQ(result(nullptr), "static None");
  EXPECT_EQ(result(none), "static None");
  EXPECT_EQ(result(f16), "static fp16");
  EXPECT_EQ(result("text"), "mismatch");
  StaticValue tuple(StaticValue::Tuple{StaticValue(1), StaticValue(2)});
  EXPECT_EQ(result(tuple), "static (1, 2)");
}

TEST(Specialize, Tensors) {
  Tensor t = zeros({64}, f16);
  EXPECT_EQ(result(t), "*fp16 d");
  EXPECT_EQ(result(t.slice(0, 8)), "*fp16 d");
  EXPECT_EQ(result(t.slice(0, 4)), "*fp16");
  EXPECT_EQ(result(t, {.alignment = false}), "*fp16");
  EXPECT_EQ(result(t, {.specialize = false}), "*fp16");
  EXPECT_EQ(result(t, {.dtype = f16, .isPointer = true}), "*fp16 d");
  EXPECT_EQ(result(t, {.dtype = f32, .isPointer = true}), "mismatch");
  EXPECT_EQ(result(t, {.dtype = i32}), "mismatch");
  EXPECT_EQ(result(Tensor()), "mismatch");
  EXPECT_EQ(result(nullptr, {.dtype = f32, .isPointer = true}), "static None");
  EXPECT_EQ(result(3, {.dtype = f32, .isPointer = true}), "mismatch");
}

TEST(Specialize, DoNotSpecialize) {
  EXPECT_EQ(result(1, {.specialize = false}), "i32");
  EXPECT_EQ(result(16, {.specialize = false}), "i32");
  EXPECT_EQ(result(1, {.alignment = false}), "static 1");
  EXPECT_EQ(result(16, {.alignment = false}), "i32");
}

TEST(Specialize, Annotations) {
  EXPECT_EQ(result(1, {.dtype = i32}), "i32"); // never folds
  EXPECT_EQ(result(16, {.dtype = i64}), "i64 d");
  EXPECT_EQ(result(300, {.dtype = u8}), "mismatch");
  EXPECT_EQ(result(-1, {.dtype = u32}), "mismatch");
  EXPECT_EQ(result(255, {.dtype = u8}), "u8");
  EXPECT_EQ(result(UINT64_MAX, {.dtype = u64}), "u64");
  EXPECT_EQ(result(UINT64_MAX, {.dtype = i64}), "mismatch");
  EXPECT_EQ(result(16, {.dtype = f32}), "fp32"); // floats have no divisibility
  EXPECT_EQ(result(1.5, {.dtype = i32}), "mismatch");
  EXPECT_EQ(result(true, {.dtype = i32}), "i32");
  EXPECT_EQ(result(1, {.dtype = i1}), "i1");
  EXPECT_EQ(result(2, {.dtype = i1}), "mismatch");
  EXPECT_EQ(result(f16, {.dtype = i32}), "mismatch");
}

TEST(Specialize, Constexpr) {
  EXPECT_EQ(result(7, {.isStatic = true}), "static 7");
  EXPECT_EQ(result("relu", {.isStatic = true}), "static 'relu'");
  EXPECT_EQ(result(0.5, {.isStatic = true}), "static 0.5");
  EXPECT_EQ(result(true, {.isStatic = true}), "static True");
  EXPECT_EQ(result(zeros({1}), {.isStatic = true}), "mismatch");
  EXPECT_EQ(result(UINT64_MAX, {.isStatic = true}),
            "static 18446744073709551615");
  EXPECT_EQ(result(uint64_t{1} << 63, {.isStatic = true}),
            "static 9223372036854775808");
}

TEST(Specialize, SlotsHoldTheBitsOfTheDeclaredType) {
  EXPECT_EQ(slotOf(1.5, f32), std::bit_cast<uint32_t>(1.5f));
  EXPECT_EQ(slotOf(1.5, f64), std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(slotOf(1.5, f16), 0x3e00u);
  EXPECT_EQ(slotOf(1.5, bf16), 0x3fc0u);
  EXPECT_EQ(slotOf(3, f64), std::bit_cast<uint64_t>(3.0));
  EXPECT_EQ(static_cast<int32_t>(slotOf(-5, i32)), -5);
  EXPECT_EQ(slotOf(UINT64_MAX, u64), UINT64_MAX);
}

/// Equal keys for what compiles to one image, different ones otherwise.
TEST(Specialize, KeysSeparateWhatCompilesDifferently) {
  Tensor t = zeros({64}, f16), u = zeros({64}, f32);
  std::vector<Argument> plain = {0,    1,     2,       16, int64_t{1} << 40,
                                 true, false, nullptr, t,  t.slice(0, 1),
                                 u,    f16,   1.0,     2.0};
  Tensor slice = t.slice(0, 1);
  plain[9] = slice;
  for (bool isStatic : {false, true}) {
    for (const Argument &a : plain) {
      for (const Argument &b : plain) {
        ParameterDescription p;
        p.isStatic = isStatic;
        Specialized sa, sb;
        if (specialize(p, a, sa) != ArgumentMismatch::None ||
            specialize(p, b, sb) != ArgumentMismatch::None) {
          continue;
        }
        WordKey ka, kb;
        appendKey(ka, sa, a);
        appendKey(kb, sb, b);
        EXPECT_EQ(std::ranges::equal(ka.words(), kb.words()),
                  specOf(sa, a) == specOf(sb, b))
            << a.describe() << " / " << b.describe();
      }
    }
  }
}
