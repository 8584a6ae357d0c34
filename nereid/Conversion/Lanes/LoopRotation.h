//===- LoopRotation.h - Loops that test at their end -------------*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop is rotated if it tests at its end whether it goes on, and once in
// front whether it runs at all:
//
//   if (test) do { body } while (test)
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_LANES_LOOPROTATION_H
#define NEREID_CONVERSION_LANES_LOOPROTATION_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid::lanes {

/// Can the counter pass the end of its type, or the step not be positive?
bool needsCare(mlir::scf::ForOp loop);

/// Replaces a loop by rotated blocks. One that needs care ends as Python's
/// does.
void rotate(mlir::scf::ForOp loop, mlir::PatternRewriter &rewriter);

/// Is the test short, and may it be in the program twice?
bool canRotate(mlir::scf::WhileOp loop);
void rotate(mlir::scf::WhileOp loop, mlir::PatternRewriter &rewriter);

} // namespace nereid::lanes

#endif // NEREID_CONVERSION_LANES_LOOPROTATION_H
