//===- EmitMathTest.cpp - Element-wise functions --------------- -*- C++
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

/// As in EmitShapeTest: a static assertion about the type of an expression of
/// f (float32), h (float16), b (bfloat16), d (float64), i (int32), u (uint8).
void expectType(llvm::StringRef expression, llvm::StringRef dtype) {
  std::string body = "r = " + expression.str() +
                     "\ntl.static_assert(r.dtype == tl." + dtype.str() + ")\n";
  EXPECT_EQ(
      generateSnippet(
          "f: fp32, h: fp16, b: bf16, d: fp64, i: i32, u: u8, l: i64", body)
          .error,
      "")
      << expression.str();
}

std::string failing(llvm::StringRef expression) {
  return errorOf("f: fp32, h: fp16, b: bf16, d: fp64, i: i32, u: u8, l: i64",
                 expression);
}

TEST(EmitMath, ResultTypes) {
  expectType("tl.maximum(h, 0.0)", "float16");
  expectType("tl.maximum(i, 0.5)", "float32");
  expectType("tl.maximum(1, 0.5)", "float32");
  expectType("tl.minimum(d, 0.0)", "float64");
  expectType("tl.maximum(b, b)", "bfloat16");
  expectType("tl.minimum(i, u)", "int32");
  expectType("tl.minimum(b, h)", "float16");
  expectType("min(b, 1, 0.5)", "bfloat16");
  expectType("tl.clamp(h, b, h)", "float16");
  expectType("tl.clamp(u, 0, 200)", "uint8");
  expectType("tl.clamp(i, 0, 0.5)", "float32");
  expectType("tl.where(i > 0, h, 0.0)", "float16");
  expectType("tl.where(i > 0, h, f)", "float32");
  expectType("tl.clamp(b, -1.0, 1.0)", "bfloat16");
  expectType("tl.clamp(f, f, f, propagate_nan=tl.PropagateNan.ALL)", "float32");
  expectType("tl.fma(h, h, f)", "float32");
  expectType("tl.fma(h, 2, 0.5)", "float16");
  expectType("tl.fdiv(h, h)", "float32");
  expectType("tl.fdiv(3, d)", "float64");
  expectType("tl.fdiv(f, 3, approx=True)", "float32");
  expectType("tl.div_rn(f, f)", "float32");
  expectType("tl.umulhi(i, i)", "int32");
  expectType("tl.abs(u)", "uint8");
  expectType("tl.abs(b)", "bfloat16");
  expectType("tl.abs(h.to(tl.float8e5))", "float8e5");
  expectType("i.abs()", "int32");
  expectType("tl.exp(f)", "float32");
  expectType("d.sqrt()", "float64");
  expectType("tl.math.exp2(f)", "float32");
  expectType("tl.sigmoid(f)", "float32");
  expectType("tl.add(i, 1, sanitize_overflow=False)", "int32");
  expectType("tl.cast(f, tl.int8)", "int8");
  expectType("f.to(tl.int32, bitcast=True)", "int32");
  expectType("f.to(tl.bfloat16, fp_downcast_rounding='rtz')", "bfloat16");
  expectType("f.to(tl.float32, fp_downcast_rounding='rtz')", "float32");
  expectType("i.to(tl.int32, fp_downcast_rounding='rtne')", "int32");
  expectType("tl.cdiv(i, 4)", "int32");
  expectType("tl.softmax(tl.full([4], 1, tl.float16), 0)", "float32");
  expectType("tl.full([4], 0.0, tl.int32)", "int32");
  expectType("tl.full([4], 300, tl.int8)", "int8");
}

TEST(EmitMath, LibdeviceTypes) {
  expectType("libdevice.tanh(f)", "float32");
  expectType("libdevice.pow(f, 2)", "float32");
  expectType("libdevice.pow(d, f)", "float64");
  expectType("libdevice.isnan(d)", "int1");
  expectType("libdevice.llrint(f)", "int64");
  expectType("libdevice.ffs(l)", "int32");
  expectType("libdevice.popc(i)", "int32");
  expectType("libdevice.clz(l)", "int32");
  expectType("libdevice.float2int_rn(f)", "int32");
  expectType("libdevice.double2float_rz(d)", "float32");
  expectType("libdevice.float_as_int(f)", "int32");
  expectType("libdevice.ldexp(d, i)", "float64");
  expectType("libdevice.ilogb(f)", "int32");
  expectType("libdevice.fast_dividef(f, f)", "float32");
  expectType("libdevice.hypot(f, 3.0)", "float32");
  expectType("libdevice.mulhi(i, i)", "int32");
  expectType("libdevice.byte_perm(i, i, i)", "int32");
  expectType("libdevice.lgamma(f)", "float32");
  expectType("libdevice.erfinv(d)", "float64");
  expectType("libdevice.cyl_bessel_i0(f)", "float32");
  expectType("tl.math.log1p(f)", "float32");
}

TEST(EmitMath, OneOperationEach) {
  auto op = [](llvm::StringRef expression) {
    return tileOf("x: *fp32", "v = tl.load(x + tl.arange(0, 5))\n"
                              "tl.store(x + tl.arange(0, 5), " +
                                  expression.str() + ")");
  };
  EXPECT_THAT(op("tl.exp(v)"),
              testing::ContainsRegex("math.exp .* fastmath<afn>"));
  EXPECT_THAT(op("libdevice.exp(v)"), HasSubstr("math.exp "));
  EXPECT_THAT(op("libdevice.exp(v)"), Not(HasSubstr("afn")));
  EXPECT_THAT(op("tl.rsqrt(v)"), HasSubstr("math.rsqrt"));
  EXPECT_THAT(op("tl.maximum(v, 0)"), HasSubstr("arith.maxnumf"));
  EXPECT_THAT(op("tl.maximum(v, 0, propagate_nan=tl.PropagateNan.ALL)"),
              HasSubstr("arith.maximumf"));
  EXPECT_THAT(op("tl.where(v > 0, v, 0)"), HasSubstr("arith.select"));
  EXPECT_THAT(op("libdevice.pow(v, 2.0)"), Not(HasSubstr("math.powf")));
  EXPECT_THAT(op("libdevice.pow(v, 3.0)"), HasSubstr("math.powf"));
  EXPECT_THAT(op("libdevice.rint(v)"), HasSubstr("math.roundeven"));
  EXPECT_THAT(op("libdevice.fmod(v, 2.0)"), HasSubstr("arith.remf"));
  EXPECT_THAT(op("tl.umulhi(v.to(tl.int32), 7)"),
              HasSubstr("arith.mului_extended"));
}

TEST(EmitMath, Errors) {
  EXPECT_THAT(failing("tl.exp(h)"),
              AllOf(HasSubstr("tl.exp"), HasSubstr("float32 or float64"),
                    HasSubstr("got float16"), HasSubstr(".to(tl.float32)")));
  EXPECT_THAT(failing("tl.sqrt(i)"), HasSubstr("got int32"));
  EXPECT_THAT(failing("tl.sigmoid(b)"),
              AllOf(HasSubstr("tl.sigmoid"), HasSubstr("bfloat16")));
  EXPECT_THAT(failing("tl.softmax(tl.full([4], 1, tl.int16), 0)"),
              HasSubstr("tl.softmax"));
  EXPECT_THAT(failing("tl.full([4], 0.5, tl.int32)"),
              AllOf(HasSubstr("'value'"), HasSubstr("a number for int32"),
                    HasSubstr("got 0.5")));
  EXPECT_THAT(failing("tl.full([4], -1, tl.uint8)"),
              HasSubstr("a number for uint8"));
  EXPECT_THAT(failing("tl.clamp(u, -1, 1)"),
              HasSubstr("tl.clamp: the negative number -1 meets the unsigned "
                        "type uint8"));
  EXPECT_THAT(failing("tl.minimum(u, 256)"),
              HasSubstr("out of range for uint8"));
  EXPECT_THAT(failing("tl.fdiv(d, d, approx=True)"), HasSubstr("float32"));
  EXPECT_THAT(failing("tl.fdiv(f, f, True, True)"),
              HasSubstr("expected False with ieee_rounding, got True"));
  EXPECT_THAT(failing("tl.fdiv(i, i)"), HasSubstr("floating-point"));
  EXPECT_THAT(failing("tl.div_rn(d, d)"), HasSubstr("float32"));
  EXPECT_THAT(failing("tl.umulhi(u, u)"), HasSubstr("32- or 64-bit"));
  EXPECT_THAT(failing("tl.maximum(f, f, propagate_nan=True)"),
              HasSubstr("tl.PropagateNan.ALL"));
  EXPECT_THAT(
      failing("tl.maximum(tl.arange(0, 4), tl.arange(0, 5))"),
      AllOf(HasSubstr("tl.maximum"), HasSubstr("[4]"), HasSubstr("int32[5]")));
  EXPECT_THAT(failing("f.to(tl.float64, fp_downcast_rounding='rtz')"),
              HasSubstr("narrower"));
  EXPECT_THAT(failing("f.to(tl.float16, fp_downcast_rounding='up')"),
              HasSubstr("'rtne' or 'rtz'"));
  EXPECT_THAT(failing("libdevice.tanh(h)"), HasSubstr("libdevice.tanh"));
  EXPECT_THAT(failing("libdevice.float2int_rn(d)"), HasSubstr("float32"));
  EXPECT_THAT(failing("libdevice.add_ru(h, h)"), HasSubstr("libdevice.add_ru"));
  EXPECT_THAT(failing("libdevice.popc(u)"), HasSubstr("got uint8"));
  EXPECT_THAT(failing("libdevice.lgamma(h)"), HasSubstr("libdevice.lgamma"));
}

TEST(EmitMath, WhereWarnsAboutNumbersAsConditions) {
  EXPECT_THAT(
      generateSnippet("i: i32, f: fp32", "v = tl.where(i, f, 0.0)").warnings,
      HasSubstr("compared with zero"));
}

} // namespace
