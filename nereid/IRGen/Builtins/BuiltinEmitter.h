//===- BuiltinEmitter.h - What emitters of built-ins share -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Argument errors in one form, axes, element types in words. The emitters are
// in Emit<Family>.cpp; each family registers its rows at the end of its file.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_BUILTINS_BUILTINEMITTER_H
#define NEREID_IRGEN_BUILTINS_BUILTINEMITTER_H

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

/// "tl.load: argument 'mask': expected <expected>, got <got>", at the argument.
LogicalResult argumentError(CallContext &ctx, const BoundArguments &args,
                            llvm::StringRef parameter,
                            const llvm::Twine &expected, const llvm::Twine &got,
                            std::string hint = {});

/// "tl.dot: <message>", at the call.
LogicalResult callError(CallContext &ctx, const llvm::Twine &message,
                        std::string hint = {});

/// A static axis of a block of `rank` dimensions, negative ones counted from
/// the end.
FailureOr<int64_t> axisArgument(CallContext &ctx, const BoundArguments &args,
                                llvm::StringRef parameter, int64_t rank);

/// Fails unless the tensor argument is a block.
LogicalResult requireBlock(CallContext &ctx, const BoundArguments &args,
                           llvm::StringRef parameter, const Tensor &x);

/// The number or tensor under the parameter as a run-time value; the error
/// names the built-in and the parameter.
FailureOr<Tensor> tensorArgument(CallContext &ctx, const BoundArguments &args,
                                 llvm::StringRef parameter);

/// `x`, which comes from this argument, in `shape`; the error says so.
FailureOr<Tensor> spreadArgument(CallContext &ctx, const BoundArguments &args,
                                 llvm::StringRef parameter, Tensor x,
                                 llvm::ArrayRef<int64_t> shape);

/// The items of a list or tuple of run-time values.
FailureOr<llvm::SmallVector<Tensor>> tensorsArgument(CallContext &ctx,
                                                     const BoundArguments &args,
                                                     llvm::StringRef parameter);

/// All in their common shape, types as they are.
LogicalResult spreadAll(CallContext &ctx,
                        llvm::MutableArrayRef<Tensor> tensors);

/// The value of a string parameter, which must be one of `names`; returns its
/// position.
FailureOr<size_t> choiceArgument(CallContext &ctx, const BoundArguments &args,
                                 llvm::StringRef parameter,
                                 llvm::ArrayRef<llvm::StringRef> names);

/// Whether `propagate_nan` is tl.PropagateNan.ALL.
FailureOr<bool> propagateNanArgument(CallContext &ctx,
                                     const BoundArguments &args);

/// bfloat16 as float32, anything else as it is.
FailureOr<Tensor> promoteBFloat16(CallContext &ctx, Tensor x);

/// x op -> result of the same language type.
template <typename Op>
Tensor emitUnary(Emitter &e, Tensor x) {
  return {e.create<Op>(x.value.getType(), x.value), x.type};
}

inline FailureOr<Value> asValue(FailureOr<Tensor> x) {
  if (failed(x)) {
    return failure();
  }
  return Value(*x);
}

inline Value tupleOf(llvm::ArrayRef<Tensor> items) {
  return Value::tuple(std::vector<Value>(items.begin(), items.end()));
}

/// Calls a function of stdlib/<library>.py.
FailureOr<Value> callLibrary(CallContext &ctx, llvm::StringRef library,
                             llvm::StringRef function,
                             llvm::ArrayRef<Argument> arguments);

/// Row of something that the language has and Nereid has not: the row's summary
/// is the reason.
FailureOr<Value> emitUnsupported(CallContext &ctx, const BoundArguments &args);

// Families that share a register function of Builtins.h.
void registerAtomicBuiltins(BuiltinTable &table);
void registerBlockPointerBuiltins(BuiltinTable &table);
void registerDescriptorBuiltins(BuiltinTable &table);
void registerDotBuiltins(BuiltinTable &table);
void registerDotScaledBuiltins(BuiltinTable &table);
void registerAssemblyBuiltins(BuiltinTable &table);
void registerMapBuiltins(BuiltinTable &table);
void registerExternBuiltins(BuiltinTable &table);
void registerMachineBuiltins(BuiltinTable &table);
void registerDebugBuiltins(BuiltinTable &table);
void registerScanBuiltins(BuiltinTable &table);
void registerConversionBuiltins(BuiltinTable &table);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_BUILTINS_BUILTINEMITTER_H
