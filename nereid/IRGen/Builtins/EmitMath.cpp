//===- EmitMath.cpp - Element-wise arithmetic ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tl.where, minimum, casts, and the functions of tl.math. What libdevice has
// beyond those is in EmitLibdevice.cpp.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMath.h"

#include "llvm/Support/SaveAndRestore.h"

namespace nereid::irgen {

LogicalResult requireFloat(CallContext &ctx, const BoundArguments &args,
                           llvm::StringRef parameter, const Tensor &x,
                           FloatWidths widths) {
  bool isGood = x.type.isFloat();
  std::string expected = "a floating-point value";
  if (widths == FloatWidths::Only32) {
    isGood = x.type == ScalarType(DType::Float32);
    expected = "float32";
  } else if (widths == FloatWidths::Only64) {
    isGood = x.type == ScalarType(DType::Float64);
    expected = "float64";
  } else if (widths == FloatWidths::Only32And64) {
    isGood = x.type.isFloat() && x.type.bits() >= 32;
    expected = "float32 or float64";
  }
  if (isGood) {
    return success();
  }
  return argumentError(
      ctx, args, parameter, expected, x.typeStr(),
      x.type.isPointer
          ? "load the elements first"
          : "convert it: .to(tl.float" +
                std::string(widths == FloatWidths::Only64 ? "64)" : "32)"));
}

FailureOr<llvm::SmallVector<Tensor>>
promoteArguments(CallContext &ctx, const BoundArguments &args,
                 llvm::ArrayRef<llvm::StringRef> names, bool widenBFloat16) {
  llvm::SmallVector<Tensor> operands;
  std::optional<ScalarType> type;
  std::optional<llvm::SmallVector<int64_t>> shape(std::in_place);
  for (llvm::StringRef name : names) {
    FailureOr<Tensor> x = tensorArgument(ctx, args, name);
    if (succeeded(x) && widenBFloat16) {
      x = promoteBFloat16(ctx, *x);
    }
    if (failed(x)) {
      return failure();
    }
    operands.push_back(*x);
    llvm::SmallVector<int64_t> soFar = *shape;
    shape = broadcastShape(soFar, x->shape());
    if (!shape) {
      return argumentError(ctx, args, name,
                           "a shape that fits " + shapeStr(soFar),
                           x->typeStr());
    }
    if (!type) {
      type = x->type;
      continue;
    }
    std::string why;
    ScalarType before = *type;
    type = promote(before, x->type, OperatorClass::Plain, why);
    if (!type) {
      return argumentError(ctx, args, name, "a type that fits " + before.str(),
                           x->typeStr(), why);
    }
  }
  for (Tensor &x : operands) {
    FailureOr<Tensor> cast = ctx.emitter.cast(x, *type);
    if (failed(cast)) {
      return failure();
    }
    x = *cast;
  }
  for (auto [x, name] : llvm::zip(operands, names)) {
    FailureOr<Tensor> spread = spreadArgument(ctx, args, name, x, *shape);
    if (failed(spread)) {
      return failure();
    }
    x = *spread;
  }
  return operands;
}

/// As operators do in every version.
static FailureOr<llvm::SmallVector<Tensor>>
adoptArguments(CallContext &ctx, const BoundArguments &args,
               llvm::ArrayRef<llvm::StringRef> names,
               OperatorClass cls = OperatorClass::Plain) {
  Emitter &e = ctx.emitter;
  llvm::SmallVector<Value> values;
  llvm::SmallVector<int64_t> shape;
  for (llvm::StringRef name : names) {
    values.push_back(args[name]);
    if (!values.back().isNumber()) {
      FailureOr<Tensor> x = tensorArgument(ctx, args, name);
      if (failed(x)) {
        return failure();
      }
      auto common = broadcastShape(shape, x->shape());
      if (!common) {
        return argumentError(ctx, args, name,
                             "a shape that fits " + shapeStr(shape),
                             x->typeStr());
      }
      shape = *common;
    }
  }
  std::optional<ScalarType> type =
      e.commonType(values, ctx.name(), Emitter::NumberRule::Adopt, cls);
  if (!type) {
    return failure();
  }
  llvm::SmallVector<Tensor> operands;
  for (auto [value, name] : llvm::zip(values, names)) {
    FailureOr<Tensor> x = value.isTensor()
                              ? e.cast(value.tensor(), *type)
                              : FailureOr<Tensor>(e.numberAs(value, *type));
    if (succeeded(x)) {
      x = spreadArgument(ctx, args, name, *x, shape);
    }
    if (failed(x)) {
      return failure();
    }
    operands.push_back(*x);
  }
  return operands;
}

FailureOr<llvm::SmallVector<Tensor>>
promoteLikeOperators(CallContext &ctx, const BoundArguments &args,
                     llvm::ArrayRef<llvm::StringRef> names, bool widenBFloat16,
                     OperatorClass cls) {
  return ctx.emitter.means(LanguageVersion::V3_9)
             ? adoptArguments(ctx, args, names, cls)
             : promoteArguments(ctx, args, names, widenBFloat16);
}

namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

FailureOr<Value> emitWhere(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  FailureOr<Tensor> condition = tensorArgument(ctx, args, "condition");
  if (failed(condition)) {
    return failure();
  }
  if (!condition->type.isBool()) {
    if (condition->type.isPointer) {
      return argumentError(ctx, args, "condition",
                           "int1 (a comparison's result)",
                           condition->typeStr());
    }
    ctx.diag.warning(args.span("condition"),
                     "tl.where: the condition is " + condition->typeStr() +
                         "; it is compared with zero",
                     "write the comparison: condition != 0");
    condition = e.toBool(*condition);
  }
  auto operands = e.promoteOperands(args["x"], args["y"], ctx.name());
  if (failed(operands)) {
    return failure();
  }
  auto [x, y] = *operands;
  if (condition->isBlock() || x.isBlock()) {
    if (failed(e.broadcast(x, *condition, ctx.name())) ||
        failed(e.broadcast(y, *condition, ctx.name()))) {
      return failure();
    }
  }
  return Value(e.select(*condition, x, y));
}

/// minimum and maximum. Before 3.9 bfloat16 was float32 here, before promotion,
/// so that float16 beside it did not cut its range.
template <Tensor (Emitter::*operation)(Tensor, Tensor, bool)>
FailureOr<Value> emitExtremum(CallContext &ctx, const BoundArguments &args) {
  FailureOr<bool> propagateNan = propagateNanArgument(ctx, args);
  if (failed(propagateNan)) {
    return failure();
  }
  auto operands =
      promoteLikeOperators(ctx, args, {"x", "y"}, /*widenBFloat16=*/true);
  if (failed(operands)) {
    return failure();
  }
  Tensor x = (*operands)[0], y = (*operands)[1];
  if (x.type.isPointer) {
    return argumentError(ctx, args, "x", "numbers", x.typeStr());
  }
  return Value((ctx.emitter.*operation)(x, y, *propagateNan));
}

FailureOr<Value> emitClamp(CallContext &ctx, const BoundArguments &args) {
  FailureOr<bool> propagateNan = propagateNanArgument(ctx, args);
  if (failed(propagateNan)) {
    return failure();
  }
  Emitter &e = ctx.emitter;
  // Before 3.9 the limits met first; integers came with 3.9, and with its
  // types.
  FailureOr<llvm::SmallVector<Tensor>> operands = promoteLikeOperators(
      ctx, args, {"min", "max", "x"}, /*widenBFloat16=*/true);
  if (succeeded(operands) && (*operands)[0].type.isInteger()) {
    operands = adoptArguments(ctx, args, {"min", "max", "x"});
  }
  if (failed(operands)) {
    return failure();
  }
  auto [low, high, x] =
      std::tie((*operands)[0], (*operands)[1], (*operands)[2]);
  if (x.type.isPointer) {
    return argumentError(ctx, args, "x", "numbers", x.typeStr());
  }
  return Value(
      e.minimum(e.maximum(x, low, *propagateNan), high, *propagateNan));
}

using Operands = FailureOr<llvm::SmallVector<Tensor>>;
using Names = llvm::ArrayRef<llvm::StringRef>;
Operands promoteAsTl(CallContext &ctx, const BoundArguments &args,
                     Names names) {
  return promoteLikeOperators(ctx, args, names);
}
Operands promoteAsLibdevice(CallContext &ctx, const BoundArguments &args,
                            Names names) {
  return promoteArguments(ctx, args, names);
}

template <auto promotion>
FailureOr<Value> emitFma(CallContext &ctx, const BoundArguments &args) {
  auto operands = promotion(ctx, args, {"x", "y", "z"});
  if (failed(operands) ||
      failed(requireFloat(ctx, args, "x", (*operands)[0], FloatWidths::Any))) {
    return failure();
  }
  Tensor x = (*operands)[0];
  return Value(Tensor{ctx.emitter.create<math::FmaOp>(
                          x.value, (*operands)[1].value, (*operands)[2].value),
                      x.type});
}

/// One division, and whether it may be off by 2 ulps.
FailureOr<Value> emitQuotient(CallContext &ctx, const Tensor &x,
                              const Tensor &y, bool approximate) {
  auto quotient = ctx.emitter.create<arith::DivFOp>(x.value, y.value);
  if (approximate) {
    quotient.setFastmath(arith::FastMathFlags::afn);
  }
  return Value(Tensor{quotient, x.type});
}

FailureOr<Value> emitDivRn(CallContext &ctx, const BoundArguments &args) {
  auto operands = promoteLikeOperators(ctx, args, {"x", "y"});
  if (failed(operands) || failed(requireFloat(ctx, args, "x", (*operands)[0],
                                              FloatWidths::Only32))) {
    return failure();
  }
  return emitQuotient(ctx, (*operands)[0], (*operands)[1], false);
}

/// One IEEE division but for `approx`; the language allows fdiv to be less
/// exact. Before 3.9 the quotient had the operands' own type, however narrow,
/// and integers were refused.
FailureOr<Value> emitFdiv(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  bool isApproximate = args.boolean("approx");
  if (isApproximate && args.boolean("ieee_rounding")) {
    return argumentError(ctx, args, "approx", "False with ieee_rounding",
                         "True");
  }
  if (!e.means(LanguageVersion::V3_9)) {
    for (const char *name : {"x", "y"}) {
      const Value &x = args[name];
      if (x.isTensor() ? x.tensor().type.isInteger() : x.isIntegral()) {
        return argumentError(ctx, args, name, "a floating-point value",
                             x.describe(), "convert it: .to(tl.float32)");
      }
    }
  }
  auto operands = promoteLikeOperators(ctx, args, {"x", "y"}, false,
                                       OperatorClass::Division);
  if (failed(operands) ||
      failed(requireFloat(ctx, args, "x", (*operands)[0],
                          isApproximate ? FloatWidths::Only32
                                        : FloatWidths::Any))) {
    return failure();
  }
  return emitQuotient(ctx, (*operands)[0], (*operands)[1], isApproximate);
}

template <auto promotion>
FailureOr<Value> emitUmulhi(CallContext &ctx, const BoundArguments &args) {
  auto operands = promotion(ctx, args, {"x", "y"});
  if (failed(operands)) {
    return failure();
  }
  Tensor x = (*operands)[0];
  if (!x.type.isInteger() || x.type.bits() < 32) {
    return argumentError(ctx, args, "x", "32- or 64-bit integers", x.typeStr());
  }
  auto product =
      ctx.emitter.create<arith::MulUIExtendedOp>(x.value, (*operands)[1].value);
  return Value(Tensor{product.getHigh(), x.type});
}

FailureOr<Value> emitAbs(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  const Tensor &x = args.tensor("x");
  if (x.type.isPointer) {
    return argumentError(ctx, args, "x", "numbers", x.typeStr());
  }
  if (x.type.isFp8()) { // the sign bit cleared
    FailureOr<Tensor> bits = e.bitcast(x, DType::Int8);
    if (failed(bits)) {
      return failure();
    }
    Tensor mask = e.constant(DType::Int8, Int{0x7f}, x.shape());
    bits->value = e.create<arith::AndIOp>(bits->value, mask.value);
    return asValue(e.bitcast(*bits, x.type));
  }
  if (x.type.isFloat()) {
    return Value(emitUnary<math::AbsFOp>(e, x));
  }
  return Value(x.type.isSignedInt() ? emitUnary<math::AbsIOp>(e, x) : x);
}

template <ast::Operator op>
FailureOr<Value> emitOperator(CallContext &ctx, const BoundArguments &args) {
  Value x = args["x"], y = args["y"];
  if (!x.isTensor() && !y.isTensor()) {
    FailureOr<Tensor> run = tensorArgument(ctx, args, "x");
    if (failed(run)) {
      return failure();
    }
    x = *run;
  }
  llvm::SaveAndRestore checks(ctx.emitter.checksOverflow);
  ctx.emitter.checksOverflow &= args.boolean("sanitize_overflow");
  return ctx.emitter.binary(op, x, y);
}

FailureOr<Value> emitCast(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  const Tensor &x = args.tensor("input");
  ScalarType type = args.dtype("dtype");
  std::optional<Rounding> rounding;
  if (!args.isNone("fp_downcast_rounding")) {
    FailureOr<size_t> i =
        choiceArgument(ctx, args, "fp_downcast_rounding", {"rtne", "rtz"});
    if (failed(i)) {
      return failure();
    }
    rounding = *i == 0 ? Rounding::Nearest : Rounding::TowardZero;
    bool narrows =
        x.type.isFloat() && type.isFloat() && type.bits() < x.type.bits();
    if (!narrows && x.type != type) {
      return argumentError(ctx, args, "fp_downcast_rounding",
                           "nothing unless a float becomes a narrower float",
                           "'" + args.string("fp_downcast_rounding") +
                               "' for " + x.type.str() + " to " + type.str());
    }
  }
  FailureOr<Tensor> result =
      args.boolean("bitcast") ? e.bitcast(x, type) : e.cast(x, type, rounding);
  if (failed(result)) {
    return failure();
  }
  return Value(*result);
}

template <typename Op>
FailureOr<Value> emitLogical(CallContext &ctx, const BoundArguments &args) {
  FailureOr<Tensor> other = tensorArgument(ctx, args, "other");
  if (failed(other)) {
    return failure();
  }
  FailureOr<Tensor> x = ctx.emitter.toBool(args.tensor("input"));
  FailureOr<Tensor> y = ctx.emitter.toBool(*other);
  if (failed(x) || failed(y) ||
      failed(ctx.emitter.broadcast(*x, *y, ctx.name()))) {
    return failure();
  }
  return Value(Tensor{ctx.emitter.create<Op>(x->value, y->value), DType::Int1});
}

} // namespace

void registerMathBuiltins(BuiltinTable &table) {
  table.add({"tl", "where(condition, x, y)", emitWhere,
             "x where condition is true, else y; both are evaluated.", Member});
  table.add({"tl", "minimum(x, y, propagate_nan: static=None)",
             emitExtremum<&Emitter::minimum>,
             "The smaller one; a number wins over NaN unless propagate_nan."});
  table.add({"tl", "maximum(x, y, propagate_nan: static=None)",
             emitExtremum<&Emitter::maximum>,
             "The larger one; a number wins over NaN unless propagate_nan."});
  table.add({"tl", "clamp(x, min, max, propagate_nan: static=None)", emitClamp,
             "minimum(maximum(x, min), max)."});
  table.add({"tl", "add(x, y, sanitize_overflow: bool=True)",
             emitOperator<ast::Operator::Add>, "x + y."});
  table.add({"tl", "sub(x, y, sanitize_overflow: bool=True)",
             emitOperator<ast::Operator::Sub>, "x - y."});
  table.add({"tl", "mul(x, y, sanitize_overflow: bool=True)",
             emitOperator<ast::Operator::Mult>, "x * y."});
  table.add({"tl",
             "cast(input: tensor, dtype: dtype, fp_downcast_rounding: "
             "str=None, bitcast: bool=False)",
             emitCast, "Another type: the value, or with bitcast the bits.",
             Member});
  table.add({"tl",
             "to(input: tensor, dtype: dtype, fp_downcast_rounding: str=None, "
             "bitcast: bool=False)",
             emitCast, "As tl.cast.", MemberOnly});

  table.add({"tl", "logical_and(input: tensor, other)",
             emitLogical<mlir::arith::AndIOp>, "Both are not zero.",
             MemberOnly});
  table.add({"tl", "logical_or(input: tensor, other)",
             emitLogical<mlir::arith::OrIOp>, "One of them is not zero.",
             MemberOnly});

  table.add({"tl tl.math", "fma(x, y, z)", emitFma<promoteAsTl>,
             "x * y + z, rounded once."});
  table.add({"libdevice", "fma(x, y, z)", emitFma<promoteAsLibdevice>,
             "x * y + z, rounded once."});
  table.add({"libdevice", "fma_rn(x, y, z)", emitFma<promoteAsLibdevice>,
             "x * y + z, correctly rounded."});
  table.add({"tl tl.math",
             "fdiv(x, y, ieee_rounding: bool=False, approx: bool=False)",
             emitFdiv,
             "x / y of floats, in float32 or float64; approx: within 2 ulps on "
             "a GPU."});
  table.add({"tl tl.math", "div_rn(x, y)", emitDivRn,
             "x / y of float32, correctly rounded."});
  table.add({"tl tl.math", "umulhi(x, y)", emitUmulhi<promoteAsTl>,
             "The high half of the unsigned product."});
  table.add({"libdevice", "umulhi(x, y)", emitUmulhi<promoteAsLibdevice>,
             "The high half of the unsigned product."});
  table.add(
      {"tl tl.math libdevice", "abs(x: tensor)", emitAbs, "|x|.", Member});

  constexpr FloatWidths wide = FloatWidths::Only32And64;
  table.add({"tl tl.math", "exp(x: tensor)", emitExp<wide>,
             "e^x. On a GPU float32 has 2.4 + 1.2 |x| ulps; libdevice.exp has "
             "3 everywhere.",
             Member});
  table.add({"tl tl.math", "exp2(x: tensor)",
             emitFloatUnary<math::Exp2Op, wide>, "2^x.", Member});
  table.add({"tl tl.math", "log(x: tensor)", emitFloatUnary<math::LogOp, wide>,
             "Natural logarithm.", Member});
  table.add({"tl tl.math", "log2(x: tensor)",
             emitFloatUnary<math::Log2Op, wide>, "Logarithm to base 2.",
             Member});
  table.add({"tl tl.math", "sin(x: tensor)", emitFloatUnary<math::SinOp, wide>,
             "Sine of x in radians.", Member});
  table.add({"tl tl.math", "cos(x: tensor)", emitFloatUnary<math::CosOp, wide>,
             "Cosine of x in radians.", Member});
  table.add({"tl tl.math", "sqrt(x: tensor)",
             emitFloatUnary<math::SqrtOp, wide>, "Square root.", Member});
  table.add({"tl tl.math", "sqrt_rn(x: tensor)",
             emitFloatUnary<math::SqrtOp, FloatWidths::Only32>,
             "Square root of float32, correctly rounded.", Member});
  table.add({"tl tl.math", "rsqrt(x: tensor)",
             emitFloatUnary<math::RsqrtOp, wide>, "1 / sqrt(x).", Member});
  table.add({"tl tl.math", "erf(x: tensor)", emitFloatUnary<math::ErfOp, wide>,
             "Error function.", Member});
  table.add({"tl tl.math", "floor(x: tensor)",
             emitFloatUnary<math::FloorOp, wide>, "Down to an integer.",
             Member});
  table.add({"tl tl.math", "ceil(x: tensor)",
             emitFloatUnary<math::CeilOp, wide>, "Up to an integer.", Member});
}

} // namespace nereid::irgen
