//===- LoopBounds.h - Which iterations a loop has ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPBOUNDS_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPBOUNDS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::tilegpu {

/// Does the loop reach `from + ahead * step`? In 64 bits the sum cannot wrap
/// for the language's 32-bit ranges. For wider ones with a run-time step the
/// step is compared with its share of what is left instead. Only in front of
/// the loop can the step be other than positive; it reaches nothing then.
mlir::Value hasIteration(mlir::OpBuilder &b, mlir::scf::ForOp loop,
                         mlir::Value from, unsigned ahead);

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPBOUNDS_H
