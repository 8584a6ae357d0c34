//===- Cast.cpp - Conversions between types ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rule B5 of the language. Conversions of floats that round to nearest are
// arith.extf/truncf; 8-bit formats and rounding toward zero are
// tile.convert_float. Between float16 and bfloat16 the way leads through
// float32, which holds both exactly.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/Emitter.h"

namespace nereid::irgen {

using namespace mlir::arith;

/// Emits a conversion to `to` in the shape of `x`.
template <typename Op, typename... Args>
static Tensor convert(Emitter &e, Tensor x, ScalarType to, Args &&...args) {
  return {e.create<Op>(e.typeOf(to, x.shape()), x.value,
                       std::forward<Args>(args)...),
          to};
}

FailureOr<Tensor> Emitter::toBool(Tensor x) {
  if (x.type.isBool()) {
    return x;
  }
  ScalarType boolean(DType::Int1);
  if (x.type.isPointer) {
    x = convert<tile::PtrToIntOp>(*this, x, DType::Int64);
  } else if (x.type.isFp8()) {
    x = convert<tile::ConvertFloatOp>(*this, x, DType::Float32);
  }
  Tensor none = zero(x.type, x.shape());
  if (x.type.isFloat()) {
    return Tensor{create<CmpFOp>(CmpFPredicate::UNE, x.value, none.value),
                  boolean};
  }
  return Tensor{create<CmpIOp>(CmpIPredicate::ne, x.value, none.value),
                boolean};
}

static Tensor castFloat(Emitter &e, Tensor x, ScalarType to,
                        Rounding rounding) {
  bool narrows = to.bits() < x.type.bits();
  if (x.type.isFp8() || to.isFp8() ||
      (narrows && rounding == Rounding::TowardZero)) {
    auto mode = rounding == Rounding::TowardZero ? tile::Rounding::TowardZero
                                                 : tile::Rounding::Nearest;
    return convert<tile::ConvertFloatOp>(e, x, to, mode);
  }
  if (x.type.bits() == to.bits()) {
    return convert<TruncFOp>(e, convert<ExtFOp>(e, x, DType::Float32), to);
  }
  return narrows ? convert<TruncFOp>(e, x, to) : convert<ExtFOp>(e, x, to);
}

static Tensor castInteger(Emitter &e, Tensor x, ScalarType to) {
  if (x.type.bits() == to.bits()) {
    return {x.value, to};
  }
  if (to.bits() < x.type.bits()) {
    return convert<TruncIOp>(e, x, to);
  }
  return x.type.isSignedInt() ? convert<ExtSIOp>(e, x, to)
                              : convert<ExtUIOp>(e, x, to);
}

static FailureOr<Tensor> castPointer(Emitter &e, Tensor x, ScalarType to) {
  if (x.type.isPointer && to.isPointer) {
    return e.typeOf(x.type) == e.typeOf(to)
               ? Tensor{x.value, to}
               : convert<tile::PtrCastOp>(e, x, to);
  }
  ScalarType number = x.type.isPointer ? to : x.type;
  if (number.isFloat() || (x.type.isPointer && number.bits() != 64)) {
    return e.diag.error("cannot convert " + x.type.str() + " to " + to.str(),
                        "a pointer converts to and from int64 and uint64");
  }
  if (x.type.isPointer) {
    return convert<tile::PtrToIntOp>(e, x, to);
  }
  return convert<tile::IntToPtrOp>(e, castInteger(e, x, DType::Int64), to);
}

FailureOr<Tensor> Emitter::cast(Tensor x, ScalarType to,
                                std::optional<Rounding> rounding) {
  ScalarType from = x.type;
  if (from == to) {
    return x;
  }
  if (rounding &&
      !(from.isFloat() && to.isFloat() && to.bits() < from.bits())) {
    return diag.error("fp_downcast_rounding needs a conversion to a narrower "
                      "float; this one is from " +
                          from.str() + " to " + to.str() +
                          "; expected it left out here",
                      "it chooses how digits are dropped");
  }
  if (to.isBool()) {
    return toBool(x);
  }
  if (from.isPointer || to.isPointer) {
    return castPointer(*this, x, to);
  }
  if (from.isFloat() && to.isFloat()) {
    return castFloat(*this, x, to, rounding.value_or(Rounding::Nearest));
  }
  if (from.isFloat()) {
    if (from.isFp8()) {
      x = convert<tile::ConvertFloatOp>(*this, x, DType::Float32);
    }
    return to.isSignedInt() ? convert<FPToSIOp>(*this, x, to)
                            : convert<FPToUIOp>(*this, x, to);
  }
  if (to.isFp8()) {
    FailureOr<Tensor> wide = cast(x, DType::Float32);
    return failed(wide) ? wide : cast(*wide, to);
  }
  if (to.isFloat()) {
    return from.isSignedInt() ? convert<SIToFPOp>(*this, x, to)
                              : convert<UIToFPOp>(*this, x, to);
  }
  return castInteger(*this, x, to);
}

FailureOr<Tensor> Emitter::bitcast(Tensor x, ScalarType to) {
  if (x.type.bits() != to.bits()) {
    return diag.error(
        "bitcast needs types of equal width; " + x.type.str() + " has " +
            std::to_string(x.type.bits()) + " bits and " + to.str() + " has " +
            std::to_string(to.bits()) + "; expected a type of as many bits",
        "x.to(type) converts the value");
  }
  if (x.type.isPointer != to.isPointer && (x.type.isFloat() || to.isFloat())) {
    FailureOr<Tensor> bits = bitcast(x, DType::Int64);
    return failed(bits) ? bits : bitcast(*bits, to);
  }
  if (x.type.isPointer || to.isPointer) {
    return castPointer(*this, x, to);
  }
  if (typeOf(x.type) == typeOf(to)) {
    return Tensor{x.value, to};
  }
  return convert<BitcastOp>(*this, x, to);
}

} // namespace nereid::irgen
