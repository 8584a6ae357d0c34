//===- OutsideAccesses.h - Accesses that leave their arrays -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_OUTSIDEACCESSES_H
#define NEREID_ANALYSIS_OUTSIDEACCESSES_H

#include "nereid/ABI/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid {

/// An access that, in one program of the launch, touches elements outside its
/// array for certain.
struct OutsideAccess {
  mlir::Operation *op;
  mlir::BlockArgument array;
  std::array<int32_t, 3> program;
  /// The range of its active elements in that program, counted in elements of
  /// the access from the array's beginning.
  int64_t firstIndex, lastIndex;
  int64_t elements; ///< that the array has
  bool hasMask;
};

/// Each access once, in the order of the kernel. Looks at the corners of the
/// grid and some programs between them, as far as a few milliseconds reach:
/// what it finds is there, what it does not find may be there. Of signs and
/// wrapping it assumes nothing (ProgramValues.h).
std::vector<OutsideAccess> findOutsideAccesses(mlir::func::FuncOp kernel,
                                               const LaunchFacts &launch);

} // namespace nereid

#endif // NEREID_ANALYSIS_OUTSIDEACCESSES_H
