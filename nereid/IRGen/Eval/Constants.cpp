//===- Constants.cpp - Numbers as run-time values ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/Budget.h"
#include "nereid/IRGen/Eval/Emitter.h"
#include "nereid/IRGen/Host/HostAnswers.h"

namespace nereid::irgen {

Emitter::Emitter(mlir::MLIRContext *context, Diagnostics &diag)
    : diag(diag), builder(context) {}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

mlir::Location Emitter::locationOf(size_t frame) {
  const Diagnostics::Frame &f = diag.stack[frame];
  std::optional<mlir::Location> caller;
  if (frame > 0) {
    caller = locationOf(frame - 1);
  }
  if (frame < cached.size() && cached[frame].span == f.span &&
      cached[frame].source == f.source && cached[frame].caller == caller) {
    return cached[frame].location;
  }
  mlir::Location own = mlir::UnknownLoc::get(context());
  if (f.source) {
    SourceLocation at = f.source->location(f.span);
    own = mlir::FileLineColRange::get(mlir::StringAttr::get(context(), at.file),
                                      at.line, at.column, at.endLine,
                                      at.endColumn);
  }
  mlir::Location full = caller ? mlir::CallSiteLoc::get(own, *caller) : own;
  cached.resize(std::min(cached.size(), frame),
                CachedLocation{{}, nullptr, std::nullopt, full});
  cached.push_back({f.span, f.source, caller, full});
  return full;
}

mlir::Location Emitter::loc() {
  return diag.stack.empty() ? mlir::UnknownLoc::get(context())
                            : locationOf(diag.stack.size() - 1);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static mlir::TypedAttr constantAttr(mlir::Type type, mlir::TypedAttr element) {
  if (auto shaped = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
    return mlir::DenseElementsAttr::get(
        shaped, llvm::ArrayRef<mlir::Attribute>{element});
  }
  return element;
}

Tensor Emitter::constant(ScalarType type, Int value,
                         llvm::ArrayRef<int64_t> shape) {
  if (type.isFloat()) {
    return constant(type, static_cast<double>(value), shape);
  }
  if (type.isPointer) {
    Tensor bits = constant(DType::Int64, value, shape);
    return {create<tile::IntToPtrOp>(typeOf(type, shape), bits.value), type};
  }
  mlir::Type element = typeOf(type);
  // Wraps to the type's width; int1 keeps its lowest bit.
  llvm::APInt bits(type.bits(), static_cast<uint64_t>(value),
                   /*isSigned=*/false, /*implicitTrunc=*/true);
  auto attr =
      constantAttr(typeOf(type, shape), mlir::IntegerAttr::get(element, bits));
  return {create<mlir::arith::ConstantOp>(attr), type};
}

Tensor Emitter::constant(ScalarType type, double value,
                         llvm::ArrayRef<int64_t> shape) {
  if (!type.isFloat()) {
    // Values outside the type's range are undefined in the language; here they
    // become the nearest bound, so that compiling never depends on the host.
    double low = static_cast<double>(type.isPointer ? 0 : minValue(type.dtype));
    double high =
        type.isPointer ? 0 : static_cast<double>(maxValue(type.dtype));
    double clamped =
        std::isnan(value) ? 0 : std::min(std::max(value, low), high);
    Int whole = clamped >= high && !type.isPointer ? maxValue(type.dtype)
                                                   : static_cast<Int>(clamped);
    return constant(type, whole, shape);
  }
  auto element = mlir::cast<mlir::FloatType>(typeOf(type));
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(element.getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  auto attr =
      constantAttr(typeOf(type, shape), mlir::FloatAttr::get(element, number));
  return {create<mlir::arith::ConstantOp>(attr), type};
}

Tensor Emitter::zero(ScalarType type, llvm::ArrayRef<int64_t> shape) {
  return constant(type, Int{0}, shape);
}

Tensor Emitter::numberAs(const Value &number, ScalarType type,
                         llvm::ArrayRef<int64_t> shape) {
  if (type.isBool()) {
    return constant(type, Int{number.number() != 0}, shape);
  }
  return number.isFloat() ? constant(type, number.number(), shape)
                          : constant(type, number.integer(), shape);
}

FailureOr<Tensor> Emitter::toTensor(const Value &value, llvm::StringRef what) {
  if (value.isTensor()) {
    return value.tensor();
  }
  if (value.isBool()) {
    return constant(DType::Int1, value.integer());
  }
  if (value.isInt()) {
    std::optional<DType> type = typeOfInteger(value.integer());
    if (!type) {
      return diag.error("the integer " + value.repr() + " does not fit 64 bits",
                        "run-time integers lie in [-2**63, 2**64)");
    }
    return constant(*type, value.integer());
  }
  if (value.isFloat()) {
    return constant(typeOfFloat(value.number()), value.number());
  }
  std::string subject = what.empty() ? "a run-time value" : what.str();
  if (value.isOpaque()) {
    return diag.hostError(subject + ": expected a number or a tensor, got " +
                              value.describe(),
                          unknownGlobalHint);
  }
  return diag.error(subject + ": expected a number or a tensor, got " +
                    value.describe());
}

FailureOr<Value> Emitter::decay(const Value &value) {
  if (value.isNumber()) {
    FailureOr<Tensor> tensor = toTensor(value);
    if (failed(tensor)) {
      return failure();
    }
    return Value(*tensor);
  }
  bool isTuple = value.isTuple() || (value.isAggregate() && value.isSequence());
  if (!isTuple) {
    return value;
  }
  Look look;
  if (!look) {
    return value;
  }
  std::vector<Value> items;
  for (const Value &item : value.items()) {
    FailureOr<Value> decayed = decay(item);
    if (failed(decayed)) {
      return failure();
    }
    items.push_back(std::move(*decayed));
  }
  if (value.isAggregate()) {
    return Value(Aggregate{value.aggregate().type, std::move(items)});
  }
  return Value::tuple(std::move(items));
}

} // namespace nereid::irgen
