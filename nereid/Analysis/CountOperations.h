//===- CountOperations.h - Operations that a launch asks for ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Additions, multiplications, divisions and functions of floats, counted in
// Tile IR: an element counts once, on however many threads it lies, and n
// elements are added up by n - 1 additions. An element that was loaded under a
// mask that is false there is idle, and so is what is computed from idle
// elements alone, or from them and what is the same for all of a row. An
// operation that has an idle result does not count, nor does it where an idle
// element is added to another. Sums over elements leave idle ones out; a loop's
// variable is idle only where it is so in every iteration, and a choice is
// where the chosen one is. Where in doubt, an element is not idle.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_COUNTOPERATIONS_H
#define NEREID_ANALYSIS_COUNTOPERATIONS_H

#include "nereid/ABI/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace nereid {

/// Counts for the whole grid; of up to 256 programs, and as many as some tenths
/// of a second reach. Nothing where operations depend on loaded values, or are
/// hidden in assembly. A mask that is not known lets everything through.
std::optional<SourceOperations> countOperations(mlir::func::FuncOp kernel,
                                                const LaunchFacts &launch);

} // namespace nereid

#endif // NEREID_ANALYSIS_COUNTOPERATIONS_H
