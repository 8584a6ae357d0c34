//===- EmitReduceTest.cpp - Reductions, scans, products ---------- -*- C++
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

/// f: float32[4, 6], h: float16[6], c: bfloat16[6], i: int8[6], u: uint8[6].
std::string withBlocks(llvm::StringRef body) {
  return "f = tl.full([4, 6], 1.0, tl.float32)\n"
         "h = tl.full([6], 1.0, tl.float16)\n"
         "c = tl.full([6], 1.0, tl.bfloat16)\n"
         "i = tl.full([6], 1, tl.int8)\n"
         "u = tl.full([6], 1, tl.uint8)\n" +
         body.str();
}

void expectType(llvm::StringRef expression, llvm::StringRef dtype,
                llvm::StringRef shape) {
  EXPECT_EQ(generateSnippet("n: i32", withBlocks("r = " + expression.str() +
                                                 "\ntl.static_assert(r.dtype "
                                                 "== tl." +
                                                 dtype.str() +
                                                 ", 'type')\n"
                                                 "tl.static_assert(r.shape "
                                                 "== " +
                                                 shape.str() + ", 'shape')\n"))
                .error,
            "")
      << expression.str();
}

TEST(EmitReduce, TypesAndShapes) {
  expectType("tl.sum(f, axis=0)", "float32", "(6,)");
  expectType("tl.sum(f, 1, keep_dims=True)", "float32", "(4, 1)");
  expectType("tl.sum(f)", "float32", "()");
  expectType("tl.sum(f, keep_dims=True)", "float32", "(1, 1)");
  expectType("f.sum(axis=-1)", "float32", "(4,)");
  expectType("tl.sum(h)", "float16", "()");
  expectType("tl.sum(i)", "int32", "()");
  expectType("tl.sum(u)", "uint32", "()");
  expectType("tl.sum(u, dtype=tl.float32)", "float32", "()");
  expectType("tl.max(h)", "float32", "()");
  expectType("tl.max(c)", "float32", "()");
  expectType("tl.min(i)", "int32", "()");
  expectType("tl.max(h, return_indices=True, axis=0)[0]", "float16", "()");
  expectType("tl.max(c, 0, return_indices=True)[0]", "bfloat16", "()");
  expectType("tl.max(f, 1, return_indices=True)[1]", "int32", "(4,)");
  expectType("tl.argmax(f, 0)", "int32", "(6,)");
  expectType("tl.argmin(f, 1, keep_dims=True)", "int32", "(4, 1)");
  expectType("tl.xor_sum(i)", "int8", "()");
  expectType("tl.reduce_or(u, 0)", "uint8", "()");
  expectType("tl.cumsum(f, 1)", "float32", "(4, 6)");
  expectType("tl.cumsum(i)", "int32", "(6,)");
  expectType("tl.cumsum(c)", "bfloat16", "(6,)");
  expectType("tl.cumsum(h, reverse=True)", "float16", "(6,)");
  expectType("tl.cumprod(f, axis=0)", "float32", "(4, 6)");
  expectType("tl.cumprod(i)", "int32", "(6,)");
  expectType("tl.cumprod(u, dtype=tl.int64)", "int64", "(6,)");
  expectType("tl.softmax(f, 1)", "float32", "(4, 6)");
  expectType("tl.sort(h)", "float16", "(6,)");
  expectType("tl.topk(f, 2)", "float32", "(4, 2)");
  expectType("tl.flip(f, 0)", "float32", "(4, 6)");
  expectType("tl.histogram(tl.arange(0, 100), 7)", "int32", "(7,)");
}

TEST(EmitReduce, IsOneOperation) {
  std::string tile =
      tileOf("x: *fp32", "tl.store(x, tl.sum(tl.load(x + tl.arange(0, 768)), "
                         "axis=0))");
  EXPECT_THAT(tile, AllOf(HasSubstr("tile.reduce"), HasSubstr("arith.addf"),
                          Not(HasSubstr("func.call"))));
  tile = tileOf("x: *fp16", "tl.store(x, tl.sum(tl.load(x + tl.arange(0, 5)), "
                            "axis=0))");
  EXPECT_THAT(tile, AllOf(HasSubstr("arith.extf"), HasSubstr("arith.truncf")))
      << "accumulated in float32";
}

TEST(EmitReduce, Errors) {
  auto failing = [](llvm::StringRef body) {
    return errorOf("n: i32", withBlocks(body));
  };
  EXPECT_THAT(failing("tl.sum(f, axis=2)"),
              AllOf(HasSubstr("tl.sum"), HasSubstr("'axis'"),
                    HasSubstr("-2 to 1"), HasSubstr("got 2")));
  EXPECT_THAT(failing("tl.sum(n)"), HasSubstr("a block"));
  EXPECT_THAT(failing("tl.sum(i, dtype=tl.pointer_type(tl.int8))"),
              HasSubstr("a type of numbers"));
  EXPECT_THAT(failing("tl.sum(f, axis=1.5)"), HasSubstr("an integer"));
  EXPECT_THAT(failing("tl.xor_sum(f)"), HasSubstr("integers"));
  EXPECT_THAT(failing("tl.cumsum(f, axis=3)"), HasSubstr("'axis'"));
  EXPECT_THAT(failing("tl.reduce(f, 0, 1)"), HasSubstr("combine_fn"));
  EXPECT_THAT(failing("tl.topk(f, 7)"),
              AllOf(HasSubstr("tl.topk"), HasSubstr("1 to 6")));
  EXPECT_THAT(failing("tl.sort(n)"), HasSubstr("tl.sort"));
  EXPECT_THAT(failing("tl.sort(f, dim=5)"), HasSubstr("'dim'"));
  EXPECT_THAT(failing("tl.bitonic_merge(h)"), HasSubstr("power of two"));
  EXPECT_THAT(failing("tl.histogram(f, 4)"), HasSubstr("one-dimensional"));
  EXPECT_THAT(failing("tl.histogram(tl.arange(0, 4), 0)"),
              HasSubstr("1 or more"));
}

/// a: float16[16, 32], b: float16[32, 8].
std::string withMatrices(llvm::StringRef body) {
  return "a = tl.full([16, 32], 1.0, tl.float16)\n"
         "b = tl.full([32, 8], 1.0, tl.float16)\n" +
         body.str();
}

TEST(EmitDot, Types) {
  auto typed = [](llvm::StringRef expression, llvm::StringRef dtype,
                  llvm::StringRef shape) {
    EXPECT_EQ(
        generateSnippet("", withMatrices("r = " + expression.str() +
                                         "\ntl.static_assert(r.dtype == tl." +
                                         dtype.str() +
                                         ", 'type')\n"
                                         "tl.static_assert(r.shape == " +
                                         shape.str() + ", 'shape')\n"))
            .error,
        "")
        << expression.str();
  };
  typed("tl.dot(a, b)", "float32", "(16, 8)");
  typed("tl.dot(a, b, out_dtype=tl.float16)", "float16", "(16, 8)");
  typed("tl.dot(a, b.T, trans_b=True)", "float32", "(16, 8)");
  typed("tl.dot(a, b, acc=tl.zeros([16, 8], tl.float32))", "float32",
        "(16, 8)");
  typed("tl.dot(a.to(tl.int8), b.to(tl.int8))", "int32", "(16, 8)");
  typed("tl.dot(a.to(tl.float64), b.to(tl.float64))", "float64", "(16, 8)");
  // An out_dtype that leaves no choice says nothing.
  typed("tl.dot(a.to(tl.int8), b.to(tl.int8), out_dtype=tl.float32)", "int32",
        "(16, 8)");
  typed("tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), out_dtype=tl.float16)",
        "float32", "(16, 8)");
  typed("tl.dot(a.to(tl.float64), b.to(tl.float64), out_dtype=tl.float32)",
        "float64", "(16, 8)");
  typed("tl.dot(a.to(tl.bfloat16), b)", "float32", "(16, 8)");
  typed("tl.dot(a, b.to(tl.float32))", "float32", "(16, 8)");
  typed("tl.dot(a, b.to(tl.float8e5), out_dtype=tl.float16)", "float16",
        "(16, 8)");
  typed("tl.dot(a[None], b[None])", "float32", "(1, 16, 8)");
  typed("tl.dot(a[None, None], b[None, None])", "float32", "(1, 1, 16, 8)");
  typed("tl.dot(a.to(tl.float8e5), b.to(tl.float8e4nv))", "float32", "(16, 8)");
  typed("tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision='ieee')",
        "float32", "(16, 8)");
}

TEST(EmitDot, PrecisionAndWarning) {
  EXPECT_THAT(tileOf("", withMatrices("tl.device_print('', tl.dot(a, b, "
                                      "allow_tf32=False))")),
              HasSubstr("precision"));
  EXPECT_THAT(generateSnippet(
                  "", withMatrices("c = tl.dot(a, b, out_dtype=tl.float16)"))
                  .warnings,
              HasSubstr("accumulated in float16"));
}

TEST(EmitDot, Errors) {
  auto failing = [](llvm::StringRef body) {
    return errorOf("n: i32", withMatrices(body));
  };
  EXPECT_THAT(failing("tl.dot(a, a)"),
              AllOf(HasSubstr("inner dimensions"), HasSubstr("32 columns"),
                    HasSubstr("16 rows"), HasSubstr("tl.trans(b)")));
  EXPECT_THAT(failing("tl.dot(a, b.to(tl.int8))"),
              AllOf(HasSubstr("float16[16, 32]"), HasSubstr("int8[32, 8]"),
                    HasSubstr(".to(a.dtype)")));
  EXPECT_THAT(failing("tl.dot(a.to(tl.uint8), b.to(tl.int8))"),
              HasSubstr("two operands of one type"));
  EXPECT_THAT(failing("tl.dot(a.to(tl.float32), b.to(tl.float32), "
                      "out_dtype=tl.bfloat16)"),
              HasSubstr("got bfloat16"));
  EXPECT_THAT(failing("tl.dot(a.to(tl.int32), b.to(tl.int32))"),
              HasSubstr("int8"));
  EXPECT_THAT(failing("tl.dot(tl.arange(0, 4), tl.arange(0, 4))"),
              HasSubstr("rank"));
  EXPECT_THAT(failing("tl.dot(a, b, acc=tl.zeros([8, 8], tl.float32))"),
              AllOf(HasSubstr("'acc'"), HasSubstr("[16, 8]")));
  EXPECT_THAT(failing("tl.dot(a, b, acc=tl.zeros([16, 8], tl.float16), "
                      "out_dtype=tl.float32)"),
              HasSubstr("'acc'"));
  EXPECT_THAT(failing("tl.dot(a, b, out_dtype=tl.bfloat16)"),
              AllOf(HasSubstr("float32 or float16"), HasSubstr("bfloat16")));
  EXPECT_THAT(failing("tl.dot(a, b, input_precision='tf33')"),
              HasSubstr("did you mean 'tf32'"));
  EXPECT_THAT(failing("tl.dot(a, b, input_precision='ieee', allow_tf32=True)"),
              HasSubstr("allow_tf32"));
  EXPECT_THAT(failing("tl.dot_scaled(a, None, 'e4m4', b, None, 'e4m3')"),
              HasSubstr("did you mean 'e4m3'"));
  EXPECT_THAT(failing("tl.dot_scaled(a, None, 'e4m3', b, None, 'e4m3')"),
              AllOf(HasSubstr("'lhs'"), HasSubstr("uint8")));
  EXPECT_THAT(failing("tl.dot_scaled(a, None, 'fp16', b, None, 'fp16', "
                      "lhs_k_pack=False)"),
              HasSubstr("'lhs_k_pack'"));
  EXPECT_THAT(failing("tl.dot_scaled(a, 1.0, 'fp16', b, None, 'fp16')"),
              AllOf(HasSubstr("'lhs_scale'"), HasSubstr("uint8")));
  EXPECT_THAT(failing("tl.dot_scaled(a, None, 'fp16', b, None, 'fp16', "
                      "out_dtype=tl.float16)"),
              HasSubstr("'out_dtype'"));
}

} // namespace
