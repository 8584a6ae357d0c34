//===- DeferResults.h - A tile's results beside the next products -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_DEFERRESULTS_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_DEFERRESULTS_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::tilegpu {

/// Of a loop over tiles around a loop of carried products (SpecializeWarps),
/// whose sums are rounded to 16 bits and then stored: what follows the rounding
/// moves into the next tile's iteration, after the start of its first product.
/// The matrix unit waits for the rounding alone.
///
///   for each tile:
///     start the products of the first step
///     what follows the rounding, of the tile before, if there is one
///     for the other steps: start products, wait for those before
///     wait; round
///   what follows the rounding, of the last tile
///
/// The inner loop must have an iteration: by its bounds, or because
/// `tile.assume` says so. False where nothing changes.
bool deferResults(mlir::scf::ForOp inner);

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_DEFERRESULTS_H
