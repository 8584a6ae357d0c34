//===- EmitReduce.h - What reductions and scans share ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_BUILTINS_EMITREDUCE_H
#define NEREID_IRGEN_BUILTINS_EMITREDUCE_H

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

namespace nereid::irgen {

/// The combination of two tuples of scalars, partial result first.
using CombineFn = llvm::SmallVector<Tensor> (*)(Emitter &,
                                                llvm::ArrayRef<Tensor>,
                                                llvm::ArrayRef<Tensor>);

/// Fills the region of a tile.reduce or tile.scan.
void fillCombine(Emitter &e, mlir::Region &region,
                 llvm::ArrayRef<ScalarType> types, CombineFn combine);

/// What is summed: cast to `dtype` if given, else small integers widened to
/// int32 or uint32.
FailureOr<Tensor> sumOperand(CallContext &ctx, const BoundArguments &args,
                             Tensor x);

/// float32 for narrower floats: the type in which they are accumulated.
ScalarType accumulatorType(ScalarType type);

/// `input`: one block, or a tuple of blocks of one shape.
FailureOr<llvm::SmallVector<Tensor>> blocksArgument(CallContext &ctx,
                                                    const BoundArguments &args);
/// The results, as a tuple if the input was one.
Value blocksResult(const BoundArguments &args, llvm::ArrayRef<Tensor> results);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_BUILTINS_EMITREDUCE_H
