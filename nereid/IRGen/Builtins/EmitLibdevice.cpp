//===- EmitLibdevice.cpp - triton.language.extra.libdevice -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that are one operation of Tile IR stand here; the others are source
// in stdlib/math.py and special.py, called after their arguments have been
// checked and brought to one type and shape. All are also found in tl.math,
// where older kernels look for them.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMath.h"

namespace nereid::irgen {

namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

constexpr FloatWidths wide = FloatWidths::Only32And64;
constexpr FloatWidths single = FloatWidths::Only32;
constexpr FloatWidths twice = FloatWidths::Only64;

llvm::SmallVector<llvm::StringRef> parameterNames(const Builtin &builtin) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const BuiltinParameter &parameter : builtin.parameters) {
    names.push_back(parameter.name);
  }
  return names;
}

FailureOr<llvm::SmallVector<Tensor>> floatArguments(CallContext &ctx,
                                                    const BoundArguments &args,
                                                    FloatWidths widths) {
  auto names = parameterNames(ctx.builtin);
  auto operands = promoteArguments(ctx, args, names);
  if (failed(operands) ||
      failed(requireFloat(ctx, args, names[0], (*operands)[0], widths))) {
    return failure();
  }
  return operands;
}

template <typename Op, FloatWidths widths>
FailureOr<Value> emitFloatBinary(CallContext &ctx, const BoundArguments &args) {
  auto operands = floatArguments(ctx, args, widths);
  if (failed(operands)) {
    return failure();
  }
  Tensor x = (*operands)[0];
  return Value(
      Tensor{ctx.emitter.create<Op>(x.value, (*operands)[1].value), x.type});
}

/// x^2 is what most kernels want of pow, and one product is its exact rounding.
FailureOr<Value> emitPow(CallContext &ctx, const BoundArguments &args) {
  auto operands = floatArguments(ctx, args, wide);
  if (failed(operands)) {
    return failure();
  }
  Tensor x = (*operands)[0];
  const Value &exponent = args["y"];
  if (exponent.isNumber() && exponent.number() == 2) {
    return Value(ctx.emitter.mul(x, x));
  }
  return Value(Tensor{
      ctx.emitter.create<math::PowFOp>(x.value, (*operands)[1].value), x.type});
}

/// A predicate: int1.
template <typename Op, FloatWidths widths>
FailureOr<Value> emitFloatTest(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("x");
  if (failed(requireFloat(ctx, args, "x", x, widths))) {
    return failure();
  }
  return Value(Tensor{ctx.emitter.create<Op>(x.value), DType::Int1});
}

LogicalResult requireInteger(CallContext &ctx, const BoundArguments &args,
                             llvm::StringRef parameter, const Tensor &x,
                             bool only32) {
  if (x.type.isInteger() && x.type.bits() >= 32 &&
      (!only32 || x.type.bits() == 32)) {
    return success();
  }
  return argumentError(ctx, args, parameter,
                       only32 ? "int32 or uint32" : "32- or 64-bit integers",
                       x.typeStr());
}

/// A count of bits: int32, whatever the operand's width.
template <typename Op>
FailureOr<Value> emitBitCount(CallContext &ctx, const BoundArguments &args) {
  Tensor x = args.tensor("x");
  if (failed(requireInteger(ctx, args, "x", x, false))) {
    return failure();
  }
  Tensor count = emitUnary<Op>(ctx.emitter, x);
  count.type = x.type.bits() == 32 ? DType::Int32 : DType::Int64;
  return asValue(ctx.emitter.cast(count, DType::Int32));
}

/// The high half of the product, signed or unsigned as the operands are.
FailureOr<Value> emitMulhi(CallContext &ctx, const BoundArguments &args) {
  auto operands = promoteArguments(ctx, args, {"x", "y"});
  if (failed(operands)) {
    return failure();
  }
  Tensor x = (*operands)[0], y = (*operands)[1];
  if (failed(requireInteger(ctx, args, "x", x, false))) {
    return failure();
  }
  if (x.type.isUnsignedInt()) {
    auto product = ctx.emitter.create<arith::MulUIExtendedOp>(x.value, y.value);
    return Value(Tensor{product.getHigh(), x.type});
  }
  auto product = ctx.emitter.create<arith::MulSIExtendedOp>(x.value, y.value);
  return Value(Tensor{product.getHigh(), x.type});
}

/// Values of the library's parameters, by position.
FailureOr<Value> callOwnLibrary(CallContext &ctx,
                                llvm::ArrayRef<Tensor> operands) {
  llvm::SmallVector<Argument> arguments;
  for (const Tensor &operand : operands) {
    arguments.push_back({"", Value(operand), {}});
  }
  return callLibrary(ctx, ctx.builtin.library, ctx.builtin.name, arguments);
}

template <FloatWidths widths>
FailureOr<Value> emitFloatLibrary(CallContext &ctx,
                                  const BoundArguments &args) {
  auto operands = floatArguments(ctx, args, widths);
  if (failed(operands)) {
    return failure();
  }
  return callOwnLibrary(ctx, *operands);
}

template <bool only32>
FailureOr<Value> emitIntLibrary(CallContext &ctx, const BoundArguments &args) {
  auto names = parameterNames(ctx.builtin);
  auto operands = promoteArguments(ctx, args, names);
  if (failed(operands) ||
      failed(requireInteger(ctx, args, names[0], (*operands)[0], only32))) {
    return failure();
  }
  return callOwnLibrary(ctx, *operands);
}

/// ldexp(x, n), jn(n, x): a float and an int32, spread to one shape.
template <bool intFirst>
FailureOr<Value> emitFloatIntLibrary(CallContext &ctx,
                                     const BoundArguments &args) {
  auto names = parameterNames(ctx.builtin);
  FailureOr<Tensor> x = tensorArgument(ctx, args, names[intFirst ? 1 : 0]);
  FailureOr<Tensor> n = tensorArgument(ctx, args, names[intFirst ? 0 : 1]);
  if (failed(x) || failed(n) ||
      failed(requireFloat(ctx, args, names[intFirst ? 1 : 0], *x, wide)) ||
      failed(requireInteger(ctx, args, names[intFirst ? 0 : 1], *n, true)) ||
      failed(ctx.emitter.broadcast(*x, *n, ctx.name()))) {
    return failure();
  }
  return intFirst ? callOwnLibrary(ctx, {*n, *x})
                  : callOwnLibrary(ctx, {*x, *n});
}

/// In one piece: a table with a row for each function.
void addPrimitives(BuiltinTable &table) {
  struct Row {
    const char *signature;
    EmitFn emit;
    const char *summary;
  };
  // Those that tl.math has under the same name and rule.
  for (Row row : {
           Row{"exp(x: tensor)", emitFloatUnary<math::ExpOp, wide>, "e^x."},
           Row{"exp2(x: tensor)", emitFloatUnary<math::Exp2Op, wide>, "2^x."},
           Row{"log(x: tensor)", emitFloatUnary<math::LogOp, wide>,
               "Natural logarithm."},
           Row{"log2(x: tensor)", emitFloatUnary<math::Log2Op, wide>,
               "Logarithm to base 2."},
           Row{"sin(x: tensor)", emitFloatUnary<math::SinOp, wide>, "Sine."},
           Row{"cos(x: tensor)", emitFloatUnary<math::CosOp, wide>, "Cosine."},
           Row{"sqrt(x: tensor)", emitFloatUnary<math::SqrtOp, wide>,
               "Square root."},
           Row{"sqrt_rn(x: tensor)", emitFloatUnary<math::SqrtOp, wide>,
               "Square root, correctly rounded."},
           Row{"rsqrt(x: tensor)", emitFloatUnary<math::RsqrtOp, wide>,
               "1 / sqrt(x)."},
           Row{"erf(x: tensor)", emitFloatUnary<math::ErfOp, wide>,
               "Error function."},
           Row{"floor(x: tensor)", emitFloatUnary<math::FloorOp, wide>,
               "Down to an integer."},
           Row{"ceil(x: tensor)", emitFloatUnary<math::CeilOp, wide>,
               "Up to an integer."},
           Row{"div_rn(x, y)", emitFloatBinary<arith::DivFOp, wide>,
               "x / y, correctly rounded."},
       }) {
    table.add({"libdevice", row.signature, row.emit, row.summary});
  }
  for (Row row : {
           Row{"log10(x: tensor)", emitFloatUnary<math::Log10Op, wide>,
               "Logarithm to base 10."},
           Row{"log1p(x: tensor)", emitFloatUnary<math::Log1pOp, wide>,
               "log(1 + x), exact near 0."},
           Row{"expm1(x: tensor)", emitFloatUnary<math::ExpM1Op, wide>,
               "e^x - 1, exact near 0."},
           Row{"tan(x: tensor)", emitFloatUnary<math::TanOp, wide>, "Tangent."},
           Row{"asin(x: tensor)", emitFloatUnary<math::AsinOp, wide>,
               "Arc sine."},
           Row{"acos(x: tensor)", emitFloatUnary<math::AcosOp, wide>,
               "Arc cosine."},
           Row{"atan(x: tensor)", emitFloatUnary<math::AtanOp, wide>,
               "Arc tangent."},
           Row{"atan2(x, y)", emitFloatBinary<math::Atan2Op, wide>,
               "Angle of the point (y, x)."},
           Row{"sinh(x: tensor)", emitFloatUnary<math::SinhOp, wide>,
               "Hyperbolic sine."},
           Row{"cosh(x: tensor)", emitFloatUnary<math::CoshOp, wide>,
               "Hyperbolic cosine."},
           Row{"tanh(x: tensor)", emitFloatUnary<math::TanhOp, wide>,
               "Hyperbolic tangent."},
           Row{"asinh(x: tensor)", emitFloatUnary<math::AsinhOp, wide>,
               "Inverse hyperbolic sine."},
           Row{"acosh(x: tensor)", emitFloatUnary<math::AcoshOp, wide>,
               "Inverse hyperbolic cosine."},
           Row{"atanh(x: tensor)", emitFloatUnary<math::AtanhOp, wide>,
               "Inverse hyperbolic tangent."},
           Row{"erfc(x: tensor)", emitFloatUnary<math::ErfcOp, wide>,
               "1 - erf(x), exact for large x."},
           Row{"cbrt(x: tensor)", emitFloatUnary<math::CbrtOp, wide>,
               "Cube root."},
           Row{"pow(x, y)", emitPow, "x^y."},
           Row{"trunc(x: tensor)", emitFloatUnary<math::TruncOp, wide>,
               "Toward zero to an integer."},
           Row{"round(x: tensor)", emitFloatUnary<math::RoundOp, wide>,
               "To the nearest integer, halves away from zero."},
           Row{"rint(x: tensor)", emitFloatUnary<math::RoundEvenOp, wide>,
               "To the nearest integer, halves to even."},
           Row{"nearbyint(x: tensor)", emitFloatUnary<math::RoundEvenOp, wide>,
               "As rint."},
           Row{"copysign(x, y)", emitFloatBinary<math::CopySignOp, wide>,
               "|x| with the sign of y."},
           Row{"isnan(x: tensor)", emitFloatTest<math::IsNaNOp, wide>,
               "Whether x is NaN."},
           Row{"isinf(x: tensor)", emitFloatTest<math::IsInfOp, wide>,
               "Whether x is infinite."},
           Row{"isfinited(x: tensor)", emitFloatTest<math::IsFiniteOp, wide>,
               "Whether x is finite."},
           Row{"finitef(x: tensor)", emitFloatTest<math::IsFiniteOp, wide>,
               "Whether x is finite."},
           Row{"clz(x: tensor)", emitBitCount<math::CountLeadingZerosOp>,
               "Zero bits above the highest set one."},
           Row{"popc(x: tensor)", emitBitCount<math::CtPopOp>, "Set bits."},
           Row{"mulhi(x, y)", emitMulhi, "The high half of the product."},
           Row{"add_rn(x, y)", emitFloatBinary<arith::AddFOp, wide>, "x + y."},
           Row{"sub_rn(x, y)", emitFloatBinary<arith::SubFOp, wide>, "x - y."},
           Row{"mul_rn(x, y)", emitFloatBinary<arith::MulFOp, wide>, "x * y."},
           // Shorthands of float32. The language allows approximations here;
           // these are the full functions.
           Row{"fast_sinf(x: tensor)", emitFloatUnary<math::SinOp, single>,
               "sin."},
           Row{"fast_cosf(x: tensor)", emitFloatUnary<math::CosOp, single>,
               "cos."},
           Row{"fast_tanf(x: tensor)", emitFloatUnary<math::TanOp, single>,
               "tan."},
           Row{"fast_tanh(x: tensor)", emitFloatUnary<math::TanhOp, wide>,
               "tanh."},
           Row{"fast_tanhf(x: tensor)", emitFloatUnary<math::TanhOp, single>,
               "tanh."},
           Row{"fast_erf(x: tensor)", emitFloatUnary<math::ErfOp, wide>,
               "erf."},
           Row{"fast_expf(x: tensor)", emitExp<single>, "As tl.exp."},
           Row{"fast_logf(x: tensor)", emitFloatUnary<math::LogOp, single>,
               "log."},
           Row{"fast_log2f(x: tensor)", emitFloatUnary<math::Log2Op, single>,
               "log2."},
           Row{"fast_log10f(x: tensor)", emitFloatUnary<math::Log10Op, single>,
               "log10."},
           Row{"fast_powf(x, y)", emitPow, "pow."},
           Row{"fast_dividef(x, y)", emitFloatBinary<arith::DivFOp, single>,
               "x / y."},
       }) {
    table.add({"libdevice", row.signature, row.emit, row.summary});
  }
  table.add({"libdevice", "_ctz(x: tensor)",
             emitBitCount<math::CountTrailingZerosOp>,
             "Zero bits below the lowest set one.", Internal});
}

void addLibraryFunctions(BuiltinTable &table) {
  struct Row {
    const char *signature;
    EmitFn emit;
    const char *summary;
    const char *library = "math";
  };
  for (Row row : {
           Row{"exp10(x)", emitFloatLibrary<wide>, "10^x."},
           Row{"rcbrt(x)", emitFloatLibrary<wide>, "1 / cbrt(x)."},
           Row{"hypot(x, y)", emitFloatLibrary<wide>, "sqrt(x^2 + y^2)."},
           Row{"rhypot(x, y)", emitFloatLibrary<wide>, "1 / hypot(x, y)."},
           Row{"norm3d(a, b, c)", emitFloatLibrary<wide>,
               "sqrt(a^2 + b^2 + c^2)."},
           Row{"rnorm3d(a, b, c)", emitFloatLibrary<wide>, "1 / norm3d."},
           Row{"norm4d(a, b, c, d)", emitFloatLibrary<wide>,
               "sqrt(a^2 + b^2 + c^2 + d^2)."},
           Row{"rnorm4d(a, b, c, d)", emitFloatLibrary<wide>, "1 / norm4d."},
           Row{"sinpi(x)", emitFloatLibrary<wide>, "sin(pi x)."},
           Row{"cospi(x)", emitFloatLibrary<wide>, "cos(pi x)."},
           Row{"llrint(x)", emitFloatLibrary<wide>, "rint as int64."},
           Row{"llround(x)", emitFloatLibrary<wide>, "round as int64."},
           Row{"fmod(x, y)", emitFloatLibrary<wide>,
               "Remainder with the sign of x."},
           Row{"remainder(x, y)", emitFloatLibrary<wide>,
               "x - n y, n the integer nearest to x / y."},
           Row{"fdim(x, y)", emitFloatLibrary<wide>, "max(x - y, 0)."},
           Row{"ldexp(x, n)", emitFloatIntLibrary<false>, "x 2^n."},
           Row{"scalbn(x, n)", emitFloatIntLibrary<false>, "x 2^n."},
           Row{"ilogb(x)", emitFloatLibrary<wide>, "Exponent of x as int32."},
           Row{"logb(x)", emitFloatLibrary<wide>, "Exponent of x."},
           Row{"nextafter(x, y)", emitFloatLibrary<wide>,
               "The float next to x towards y."},
           Row{"signbit(x)", emitFloatLibrary<wide>, "1 for negative signs."},
           Row{"saturatef(x)", emitFloatLibrary<single>, "x within [0, 1]."},
           Row{"fast_exp10f(x)", emitFloatLibrary<single>, "exp10."},
           Row{"fast_sigmoid(x)", emitFloatLibrary<wide>, "1 / (1 + e^-x)."},
           Row{"fast_gelu(x)", emitFloatLibrary<wide>,
               "x Phi(x), in the form with tanh."},
           Row{"rcp_rn(x)", emitFloatLibrary<wide>, "1 / x."},
           Row{"rsqrt_rn(x)", emitFloatLibrary<single>, "1 / sqrt(x)."},
           Row{"rcp64h(x)", emitFloatLibrary<twice>,
               "1 / x in the high word; the low word is 0."},
           Row{"ffs(x)", emitIntLibrary<false>,
               "One plus the index of the lowest set bit; 0 for 0."},
           Row{"brev(x)", emitIntLibrary<false>, "Bits in reverse order."},
           Row{"byte_perm(x, y, s)", emitIntLibrary<true>,
               "Four of the eight bytes y:x, picked by s."},
           Row{"mul24(x, y)", emitIntLibrary<true>,
               "Product of the low 24 bits."},
           Row{"sad(x, y, z)", emitIntLibrary<true>, "|x - y| + z."},
           Row{"hadd(x, y)", emitIntLibrary<true>, "floor((x + y) / 2)."},
           Row{"rhadd(x, y)", emitIntLibrary<true>, "ceil((x + y) / 2)."},
           Row{"double2loint(x)", emitFloatLibrary<twice>,
               "The low half of the bits."},
           Row{"double2hiint(x)", emitFloatLibrary<twice>,
               "The high half of the bits."},
           Row{"hiloint2double(high, low)", emitIntLibrary<true>,
               "A float64 from its halves."},
           Row{"lgamma(x)", emitFloatLibrary<wide>, "log |Gamma(x)|.",
               "special"},
           Row{"tgamma(x)", emitFloatLibrary<wide>, "Gamma(x).", "special"},
           Row{"erfcx(x)", emitFloatLibrary<wide>, "e^(x^2) erfc(x).",
               "special"},
           Row{"erfinv(x)", emitFloatLibrary<wide>, "Inverse of erf.",
               "special"},
           Row{"erfcinv(x)", emitFloatLibrary<wide>, "Inverse of erfc.",
               "special"},
           Row{"normcdf(x)", emitFloatLibrary<wide>,
               "The normal distribution's probability below x.", "special"},
           Row{"normcdfinv(x)", emitFloatLibrary<wide>, "Inverse of normcdf.",
               "special"},
           Row{"j0(x)", emitFloatLibrary<wide>, "Bessel function J0.",
               "special"},
           Row{"j1(x)", emitFloatLibrary<wide>, "Bessel function J1.",
               "special"},
           Row{"y0(x)", emitFloatLibrary<wide>, "Bessel function Y0.",
               "special"},
           Row{"y1(x)", emitFloatLibrary<wide>, "Bessel function Y1.",
               "special"},
           Row{"jn(n, x)", emitFloatIntLibrary<true>,
               "Bessel function of order n.", "special"},
           Row{"yn(n, x)", emitFloatIntLibrary<true>,
               "Bessel function of the second kind, of order n.", "special"},
           Row{"cyl_bessel_i0(x)", emitFloatLibrary<wide>,
               "Modified Bessel function I0.", "special"},
           Row{"cyl_bessel_i1(x)", emitFloatLibrary<wide>,
               "Modified Bessel function I1.", "special"},
       }) {
    table.add(
        {"libdevice", row.signature, row.emit, row.summary, 0, row.library});
  }
}

} // namespace

void registerLibdeviceBuiltins(BuiltinTable &table) {
  addPrimitives(table);
  addLibraryFunctions(table);
  registerConversionBuiltins(table);
}

} // namespace nereid::irgen
