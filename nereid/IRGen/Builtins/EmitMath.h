//===- EmitMath.h - What element-wise functions share ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_BUILTINS_EMITMATH_H
#define NEREID_IRGEN_BUILTINS_EMITMATH_H

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

namespace nereid::irgen {

enum class FloatWidths { Any, Only32And64, Only32, Only64 };

/// Fails unless x is a float of these widths.
LogicalResult requireFloat(CallContext &ctx, const BoundArguments &args,
                           llvm::StringRef parameter, const Tensor &x,
                           FloatWidths widths);

/// These arguments in their common type and shape. A number has its own type
/// first; so have, if asked, bfloat16s as float32s. That is what libdevice does
/// in every version, and tl before 3.9.
FailureOr<llvm::SmallVector<Tensor>>
promoteArguments(CallContext &ctx, const BoundArguments &args,
                 llvm::ArrayRef<llvm::StringRef> names,
                 bool widenBFloat16 = false);

/// As promoteArguments; from 3.9 on numbers take the type of the tensors, as
/// they do beside operators, and bfloat16 stays.
FailureOr<llvm::SmallVector<Tensor>>
promoteLikeOperators(CallContext &ctx, const BoundArguments &args,
                     llvm::ArrayRef<llvm::StringRef> names,
                     bool widenBFloat16 = false,
                     OperatorClass cls = OperatorClass::Plain);

/// One operation on the first argument, which is a float.
template <typename Op, FloatWidths widths>
FailureOr<Value> emitFloatUnary(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args[size_t{0}].tensor();
  if (failed(
          requireFloat(ctx, args, ctx.builtin.parameters[0].name, x, widths))) {
    return failure();
  }
  return Value(emitUnary<Op>(ctx.emitter, x));
}

/// e^x that may be as inexact on a GPU as the argument's last bit makes it:
/// two instructions instead of seven.
template <FloatWidths widths>
FailureOr<Value> emitExp(CallContext &ctx, const BoundArguments &args) {
  FailureOr<Value> power = emitFloatUnary<mlir::math::ExpOp, widths>(ctx, args);
  if (succeeded(power)) {
    auto op = power->tensor().value.template getDefiningOp<mlir::math::ExpOp>();
    op.setFastmath(mlir::arith::FastMathFlags::afn);
  }
  return power;
}

} // namespace nereid::irgen

#endif // NEREID_IRGEN_BUILTINS_EMITMATH_H
