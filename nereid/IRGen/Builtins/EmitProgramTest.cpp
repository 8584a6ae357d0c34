//===- EmitProgramTest.cpp - Grid, hints, printing, assertions ---- -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/testing/BuiltinTesting.h"

using namespace nereid::irgen;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(EmitProgram, Grid) {
  EXPECT_THAT(tileOf("", "tl.device_print('p', tl.program_id(1))"),
              HasSubstr("tile.program_id 1"));
  EXPECT_THAT(tileOf("", "tl.device_print('p', tl.num_programs(axis=2))"),
              HasSubstr("tile.num_programs 2"));
  EXPECT_THAT(errorOf("", "tl.program_id(3)"),
              AllOf(HasSubstr("0, 1 or 2"), HasSubstr("got 3")));
  EXPECT_THAT(errorOf("n: i32", "tl.program_id(n)"), HasSubstr("axis"));
}

TEST(EmitProgram, Hints) {
  std::string tile =
      tileOf("x: *fp32, n: i32", "o = tl.max_contiguous(tl.multiple_of(n + "
                                 "tl.arange(0, 8), 16), [8])\n"
                                 "m = tl.max_constancy(o, 4)\n"
                                 "tl.store(x + m, 1.0)\n"
                                 "tl.assume(n > 0)\n"
                                 "tl.debug_barrier()");
  EXPECT_THAT(tile, HasSubstr("divisibility = array<i64: 16>"));
  EXPECT_THAT(tile, HasSubstr("contiguity = array<i64: 8>"));
  EXPECT_THAT(tile, HasSubstr("constancy = array<i64: 4>"));
  EXPECT_THAT(tile, HasSubstr("tile.assume"));
  EXPECT_THAT(tile, HasSubstr("tile.barrier"));
  EXPECT_THAT(errorOf("", "tl.multiple_of(tl.arange(0, 8), [8, 8])"),
              HasSubstr("one for each dimension"));
  EXPECT_THAT(errorOf("", "tl.multiple_of(tl.arange(0, 8), 0)"),
              HasSubstr("1 or more"));
  EXPECT_THAT(errorOf("", "tl.assume(tl.arange(0, 8) > 0)"),
              HasSubstr("scalar condition"));
}

TEST(EmitProgram, Printing) {
  std::string tile =
      tileOf("n: i32, u: u32", "tl.device_print('n', n, u, hex=True)\n"
                               "print('here')");
  EXPECT_THAT(tile, HasSubstr("tile.print \" n: (operand 0) \""));
  EXPECT_THAT(tile, HasSubstr("tile.print \" n: (operand 1) \""));
  EXPECT_THAT(tile, HasSubstr("\"u32\""));
  EXPECT_THAT(tile, HasSubstr("tile.print \" here\""));
  EXPECT_THAT(tileOf("n: i32", "tl.device_print('n', n)"),
              HasSubstr("tile.print \" n: \""));
  EXPECT_THAT(tileOf("h: fp16", "tl.device_print('h', h, hex=True)"),
              HasSubstr("{dtype = \"fp16\", hex}"));
  EXPECT_THAT(errorOf("n: i32", "tl.device_print('n', 'm', n)"),
              HasSubstr("prefix"));
  EXPECT_THAT(errorOf("n: i32", "tl.device_print(n)"), HasSubstr("prefix"));
}

TEST(EmitProgram, Assertions) {
  EXPECT_THAT(tileOf("n: i32", "tl.device_assert(n > 0, 'positive')"),
              Not(HasSubstr("tile.assert")));
  EXPECT_THAT(tileOf("n: i32", "tl.device_assert(n > 0, 'positive')",
                     nereid::CheckAsserts),
              HasSubstr("tile.assert"));
  EXPECT_THAT(errorOf("", "tl.static_assert(1 == 2, 'one is not two')"),
              HasSubstr("static assertion failed: one is not two"));
  EXPECT_THAT(errorOf("n: i32", "tl.static_assert(n == 2)"),
              HasSubstr("tl.device_assert"));
}

TEST(EmitProgram, Overflow) {
  auto asserts = [](const char *parameters, const char *body) {
    std::string tile = tileOf(parameters, body, nereid::CheckOverflow);
    size_t count = 0;
    for (size_t at = 0; (at = tile.find("tile.assert", at)) != tile.npos;
         ++at) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(asserts("n: i32, m: i32", "n + m * 2 - 1"), 3u);
  EXPECT_EQ(asserts("n: u8", "n + n"), 1u);
  EXPECT_EQ(asserts("n: i32", "tl.add(n, n)"), 1u);
  EXPECT_EQ(asserts("n: i32", "tl.add(n, n, sanitize_overflow=False)"), 0u);
  EXPECT_EQ(asserts("n: i64, x: fp32, p: *fp32", "n + n, x + x, p + n"), 0u);
  EXPECT_EQ(asserts("n: i32", "n // 2, n & 3, n << 1, -n, n > 1"), 0u);
  EXPECT_EQ(asserts("n: i32", "tl.sum(tl.arange(0, 16)), tl.rand(n, 1)"), 0u);
}

TEST(EmitLibrary, Random) {
  std::string tile =
      tileOf("x: *fp32, seed: i64", "o = tl.arange(0, 48)\n"
                                    "tl.store(x + o, tl.randn(seed, o))");
  EXPECT_THAT(tile,
              AllOf(HasSubstr("arith.mului_extended"), HasSubstr("math.cos")));
  EXPECT_THAT(
      errorOf("x: fp32", "tl.rand(1, x)"),
      AllOf(HasSubstr("tl.rand"), HasSubstr("'offset'"), HasSubstr("float32")));
  EXPECT_THAT(errorOf("x: i32", "tl.rand(1, x, n_rounds=0)"),
              HasSubstr("n_rounds"));
}

} // namespace
