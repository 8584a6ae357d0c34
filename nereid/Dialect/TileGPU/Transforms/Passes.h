//===- Passes.h - Passes over tiles with layouts ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::tilegpu {

struct PipelineLoadsOptions {
  /// Iterations in flight, the current one included, of a loop that does not
  /// say `tile.num_stages` itself.
  unsigned stages = 3;
  /// Shared memory of a block, bytes. Loops that would need more get fewer
  /// stages.
  unsigned sharedLimit = 227 * 1024;
};

/// Operands that a product by four warps reads from shared memory, and that the
/// loops around it do not change, are written there once, in front of the
/// loops, as far as they take no more than half of `sharedLimit` bytes; others
/// are written for each product. Before `pipelineLoads`, which leaves the
/// buffers their room.
void shareOperands(mlir::func::FuncOp kernel, unsigned sharedLimit);

/// Makes the pass `tilegpu-share-operands` known by name.
void registerShareOperandsPass();

/// Loads that feed matrix products inside a loop become asynchronous copies
/// into a ring of buffers, started `stages - 1` iterations before their use; a
/// loop that says `tile.num_stages` has all its loads copied so. What their
/// addresses and masks are computed from is computed that much ahead.
///
/// A load stays where it is if an address depends on what the loop loads, if
/// the loop may write what it reads, or if a piece would be under 4 bytes.
void pipelineLoads(mlir::func::FuncOp kernel,
                   const PipelineLoadsOptions &options);

/// What a multiprocessor may hold at once.
struct PrefetchProgramsOptions {
  unsigned warps = 64, blocks = 32;
};

/// Where a program waits for a row, because it reduces it, memory idles; so
/// each program asks for the row of a later one. And what all programs read
/// behind a reduction program 0 asks for at its start. For targets with bulk
/// prefetches (sm_90).
void prefetchPrograms(mlir::func::FuncOp kernel,
                      const PrefetchProgramsOptions &options);

/// Makes the pass `tilegpu-prefetch-programs` known by name.
void registerPrefetchProgramsPass();

/// Makes the pass `tilegpu-pipeline-loads` known by name.
void registerPipelineLoadsPass();

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES_H
