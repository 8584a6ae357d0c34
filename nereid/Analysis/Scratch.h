//===- Scratch.h - Shared memory that an operation needs --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many operations make trips through shared memory: threads write, all wait at
// a barrier, threads read. What a trip takes is a function of the operation and
// the layouts of its types alone. Here it is said once: the allocation places
// the pieces, the pipeliner counts their bytes before it chooses its stages,
// and the emitter writes to where they were placed. docs/TileGPUResources.md
// tells the whole.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_SCRATCH_H
#define NEREID_ANALYSIS_SCRATCH_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include <map>
#include <optional>

namespace nereid {

/// Bytes of shared memory of one trip, or of one operand of a product.
struct ScratchPiece {
  unsigned bytes = 0;
  unsigned alignment = tilegpu::wavefrontBytes;
  /// Pieces of one trip are written, then comes one barrier, then they are
  /// read. Trips follow one another, from 0.
  unsigned trip = 0;
};

/// The pieces in the order in which the operation writes them.
llvm::SmallVector<ScratchPiece> scratchOf(mlir::Operation *op);

/// Is there a barrier for all threads in what becomes of `op`, before anything
/// else of it or after all of it? Those of trips do not count.
bool beginsWithBarrier(mlir::Operation *op);
bool endsWithBarrier(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// The operations whose scratch takes thought
//===----------------------------------------------------------------------===//

/// What is left of a tile when `axis` is reduced: a shape with 1 there.
Shape shapeWithout(Shape shape, unsigned axis);

/// Live registers of the source that agree in everything but the axis, along
/// it, by their place in the tile that is left.
std::map<uint32_t, llvm::SmallVector<unsigned>>
reducedRegisters(tile::ReduceOp op);

/// The partial results of warps: at each place of the tile that is left, one
/// after the other, for each source and, where threads may hold none of the
/// axis, whether they count.
struct WarpParts {
  unsigned parts = 1;
  bool hasFlags = false;
  llvm::SmallVector<mlir::Type> elements; ///< of the sources, and i1 for flags
  llvm::SmallVector<unsigned> offsets;    ///< of each, in bytes
  unsigned bytes = 0;
  /// Places that a thread holds side by side. One is left free after each run
  /// of so many: lanes reach the same place of their runs together, and would
  /// all meet one bank. 0: lanes hold neighbours.
  unsigned run = 0;
  unsigned padded(unsigned place) const {
    return run ? place + place / run : place;
  }
};
/// Absent where no two warps hold parts of one result.
std::optional<WarpParts> warpPartsOf(tile::ReduceOp op);

/// How a scan goes over the registers of a thread: row by row, a chunk of
/// neighbours along the axis at a time.
struct ScanChunk {
  llvm::SmallVector<unsigned> registers; ///< live ones, in scan order
  bool hasFlag = false;                  ///< may a thread hold none of it?
};
struct ScanRounds {
  unsigned laneBits = 0, warpBits = 0; ///< along the axis
  std::vector<std::vector<ScanChunk>> rows;
};
ScanRounds scanRoundsOf(tile::ScanOp op);
/// The types of one chunk on its way through shared memory: a place for every
/// thread and each of these.
llvm::SmallVector<mlir::Type> scanElements(tile::ScanOp op, bool hasFlag);

/// An operand of a product of four warps that the product itself writes to
/// shared memory: it is neither in a buffer nor may be registers.
bool isStagedOperand(tile::DotOp op, unsigned index);
/// Is the left operand in the layout that the instruction takes from registers?
bool isWarpgroupOperand(tile::DotOp op);
/// Do the products that use it read it from the buffer where they need it?
/// Nothing that ends the slot's content lies between.
bool staysInBuffer(tilegpu::LocalLoadOp op);

/// Of a conversion whose elements stay in their warps and still go through
/// shared memory: bytes that each warp needs there; else 0.
unsigned bytesWithinWarp(tilegpu::ConvertLayoutOp op);

/// Row-major operands of a product without matrix instructions: the second
/// begins at `rhsOffset`.
struct RowMajorOperands {
  unsigned rhsOffset, bytes;
};
RowMajorOperands rowMajorOperands(tile::DotOp op);

} // namespace nereid

#endif // NEREID_ANALYSIS_SCRATCH_H
