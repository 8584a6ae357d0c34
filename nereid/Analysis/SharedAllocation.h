//===- SharedAllocation.h - Places in shared memory -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A colouring of intervals: buffers from their `alloc` to their `free`, and the
// pieces of trips (Scratch.h). What holds something at the same time lies
// apart. What no barrier holds apart in time lies apart too, where that is
// cheap; elsewhere the two share bytes, and a barrier comes between.
//
// Every buffer has the lowest place beside the buffers that live when it is
// allocated, whatever else the kernel does. So a part of a kernel needs what
// bytesNeeded() says, and the kernel no more than its parts.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_SHAREDALLOCATION_H
#define NEREID_ANALYSIS_SHAREDALLOCATION_H

#include "nereid/Analysis/Spans.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace nereid {

struct SharedAllocation {
  /// The offset of each buffer, and those of the pieces of each operation with
  /// scratch.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<uint32_t>> offsets;
  unsigned bytes = 0; ///< of all
};

/// For a target with `limit` bytes, which the result exceeds only if it must.
SharedAllocation allocateShared(mlir::func::FuncOp kernel, unsigned limit);

/// Where the buffers lie that live in front of each loop.
llvm::DenseMap<mlir::scf::ForOp, llvm::SmallVector<Span>>
buffersAtLoops(mlir::func::FuncOp kernel);

/// The bytes without which `ops` cannot do while buffers lie at `taken`, from
/// the first byte of shared memory on.
unsigned bytesNeeded(llvm::iterator_range<mlir::Block::iterator> ops,
                     llvm::ArrayRef<Span> taken);

} // namespace nereid

#endif // NEREID_ANALYSIS_SHAREDALLOCATION_H
