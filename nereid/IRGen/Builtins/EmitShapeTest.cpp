//===- EmitShapeTest.cpp - Creation and shapes ------------------ -*- C++
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

/// Whether an expression has this type in the language: a static assertion in
/// the snippet, so that shape and type are checked where users see them.
void expectType(llvm::StringRef expression, llvm::StringRef dtype,
                llvm::StringRef shape) {
  std::string body = "a = tl.arange(0, 6)\n"
                     "m = tl.full([2, 3], 1.5, tl.float32)\n"
                     "r = " +
                     expression.str() +
                     "\n"
                     "tl.static_assert(r.dtype == tl." +
                     dtype.str() +
                     ")\n"
                     "tl.static_assert(r.shape == " +
                     shape.str() + ", 'shape')\n";
  EXPECT_EQ(generateSnippet("p: *fp32, n: i32", body).error, "")
      << expression.str();
}

TEST(EmitShape, TypesAndShapes) {
  expectType("tl.arange(3, 10)", "int32", "(7,)");
  expectType("tl.arange(0, 1)", "int32", "(1,)");
  expectType("tl.full([4], 1, tl.int64)", "int64", "(4,)");
  expectType("tl.full((4, 5), n, tl.float16)", "float16", "(4, 5)");
  expectType("tl.full([], 3.0, tl.float32)", "float32", "()");
  expectType("tl.zeros([3, 768], tl.bfloat16)", "bfloat16", "(3, 768)");
  expectType("tl.zeros_like(m)", "float32", "(2, 3)");
  expectType("tl.broadcast_to(a[None, :], 2, 6)", "int32", "(2, 6)");
  expectType("tl.broadcast_to(a[None, :], [2, 6])", "int32", "(2, 6)");
  expectType("tl.broadcast_to(n, (2, 6))", "int32", "(2, 6)");
  expectType("a[None, :].broadcast_to(4, 6)", "int32", "(4, 6)");
  expectType("tl.broadcast(a[:, None], a[None, :])[0]", "int32", "(6, 6)");
  expectType("tl.expand_dims(a, 1)", "int32", "(6, 1)");
  expectType("tl.expand_dims(a, (0, -1))", "int32", "(1, 6, 1)");
  expectType("tl.expand_dims(m, -2)", "float32", "(2, 1, 3)");
  expectType("tl.reshape(a, 2, 3)", "int32", "(2, 3)");
  expectType("tl.reshape(a, (3, 2), can_reorder=True)", "int32", "(3, 2)");
  expectType("a.reshape([1, 6])", "int32", "(1, 6)");
  expectType("tl.reshape(n, [1, 1])", "int32", "(1, 1)");
  expectType("tl.reshape(tl.full([1, 1], 2, tl.int32), [])", "int32", "()");
  expectType("tl.view(m, [6])", "float32", "(6,)");
  expectType("tl.ravel(m)", "float32", "(6,)");
  expectType("tl.squeeze(m[None], 0)", "float32", "(2, 3)");
  expectType("tl.unsqueeze(m, 2)", "float32", "(2, 3, 1)");
  expectType("tl.trans(m)", "float32", "(3, 2)");
  expectType("m.T", "float32", "(3, 2)");
  expectType("m.trans(1, 0)", "float32", "(3, 2)");
  expectType("tl.trans(m[None])", "float32", "(1, 3, 2)");
  expectType("tl.permute(m[None], (2, 0, 1))", "float32", "(3, 1, 2)");
  expectType("tl.join(a, a)", "int32", "(6, 2)");
  expectType("tl.join(n, n)", "int32", "(2,)");
  expectType("tl.split(tl.join(m, m))[1]", "float32", "(2, 3)");
  expectType("tl.split(tl.join(n, n))[0]", "int32", "()");
  expectType("tl.interleave(m, m)", "float32", "(2, 6)");
  expectType("tl.cat(a, a)", "int32", "(12,)");
  expectType("tl.cat(m, m, dim=1)", "float32", "(2, 6)");
  expectType("tl.extract_slice(m, [0, 1], [2, 2])", "float32", "(2, 2)");
  expectType("a.extract_slice((1,), (2,), (3,))", "int32", "(2,)");
  expectType("tl.gather(m, tl.full([2, 5], 0, tl.int32), 1)", "float32",
             "(2, 5)");
  expectType("tl.full([1, 1], 2, tl.int32).item()", "int32", "()");
}

TEST(EmitShape, Operations) {
  std::string tile = tileOf("", "a = tl.arange(0, 768)\n"
                                "tl.device_print('a', tl.trans(a[:, None]))");
  EXPECT_THAT(tile, HasSubstr("tile.range 0, 768 : tensor<768xi32>"));
  EXPECT_THAT(tile, HasSubstr("tile.transpose"));
}

TEST(EmitShape, Errors) {
  EXPECT_THAT(
      errorOf("", "tl.arange(4, 4)"),
      AllOf(HasSubstr("tl.arange"), HasSubstr("'end'"), HasSubstr("got 4")));
  EXPECT_THAT(errorOf("", "tl.arange(0, 3000000000)"), HasSubstr("int32"));
  EXPECT_THAT(errorOf("", "tl.arange(0, 2000000)"), HasSubstr("1048576"));
  EXPECT_THAT(errorOf("", "tl.zeros([0], tl.float32)"), HasSubstr("[0]"));
  EXPECT_THAT(errorOf("", "tl.full([2], tl.arange(0, 2), tl.float32)"),
              AllOf(HasSubstr("'value'"), HasSubstr("int32[2]")));
  EXPECT_THAT(errorOf("", "tl.reshape(tl.arange(0, 6), 4)"),
              AllOf(HasSubstr("6 elements"), HasSubstr("4 elements")));
  EXPECT_THAT(errorOf("", "tl.reshape(tl.arange(0, 6), -1, 2)"),
              HasSubstr("-1"));
  EXPECT_THAT(errorOf("", "tl.broadcast_to(tl.arange(0, 6), [2, 6])"),
              HasSubstr("x[:, None]"));
  EXPECT_THAT(errorOf("", "tl.broadcast_to(tl.arange(0, 6), [5])"),
              AllOf(HasSubstr("[6]"), HasSubstr("[5]")));
  EXPECT_THAT(errorOf("", "tl.expand_dims(tl.arange(0, 6), 2)"),
              HasSubstr("got 2"));
  EXPECT_THAT(errorOf("", "tl.expand_dims(tl.arange(0, 6), (0, 0))"),
              HasSubstr("different axes"));
  EXPECT_THAT(errorOf("", "tl.trans(tl.arange(0, 6))"), HasSubstr("rank 2"));
  EXPECT_THAT(errorOf("", "tl.permute(tl.zeros([2, 3], tl.int32), 0, 0)"),
              HasSubstr("permutation"));
  EXPECT_THAT(errorOf("", "tl.split(tl.arange(0, 6))"),
              HasSubstr("last axis has size 2"));
  EXPECT_THAT(
      errorOf("", "tl.join(tl.arange(0, 6), tl.zeros([6], tl.float32))"),
      AllOf(HasSubstr("int32[6]"), HasSubstr("float32[6]")));
  EXPECT_THAT(errorOf("", "tl.cat(tl.arange(0, 6), tl.zeros([2, 3], "
                          "tl.int32))"),
              HasSubstr("axis 0"));
  EXPECT_THAT(errorOf("", "tl.squeeze(tl.arange(0, 6), 0)"),
              HasSubstr("axis of size 1"));
  EXPECT_THAT(errorOf("", "tl.arange(0, 6).item()"), HasSubstr("one element"));
  EXPECT_THAT(errorOf("", "tl.gather(tl.arange(0, 6), tl.zeros([2, 2], "
                          "tl.int32), 0)"),
              AllOf(HasSubstr("'index'"), HasSubstr("[2, 2]")));
  EXPECT_THAT(errorOf("", "tl.gather(tl.arange(0, 6), tl.zeros([6], "
                          "tl.float32), 0)"),
              HasSubstr("integers"));
}

TEST(EmitShape, PartsAreInsideOfTheirBlock) {
  auto error = [](const std::string &arguments) {
    return errorOf("", "tl.extract_slice(tl.arange(0, 6), " + arguments + ")");
  };
  EXPECT_THAT(error("[0, 0], [2]"),
              HasSubstr("argument 'offsets': expected one number for each of "
                        "the 1 axes of int32[6], got [0, 0]"));
  EXPECT_THAT(error("[0], [2, 2]"), HasSubstr("argument 'sizes'"));
  EXPECT_THAT(error("[0], [2], [1, 1]"), HasSubstr("argument 'strides'"));
  EXPECT_THAT(error("[0], [0]"), HasSubstr("sizes of 1 or more"));
  EXPECT_THAT(error("[0], [2], [0]"), HasSubstr("strides of 1 or more"));
  EXPECT_THAT(error("[3], [4]"),
              HasSubstr("expected a part of axis 0 of int32[6], got 4 from 3 "
                        "on by steps of 1"));
  EXPECT_THAT(error("[-1], [2]"), HasSubstr("2 from -1 on"));
  EXPECT_THAT(error("[0], [2], [1 << 62]"), HasSubstr("by steps of 46116860"));
  EXPECT_THAT(error("[1 << 70], [1]"),
              HasSubstr("expected integers of 64 bits"));
  EXPECT_THAT(errorOf("", "tl.extract_slice(3, [0], [1])"),
              HasSubstr("argument 'ful': expected a block, got a scalar"));
}

} // namespace
