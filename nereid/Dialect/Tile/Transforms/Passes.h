//===- Passes.h - Target-neutral passes over Tile IR ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_PASSES_H
#define NEREID_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace nereid::tile {

#define GEN_PASS_DECL
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

struct TilePipelineOptions {
  bool checkBounds = false; ///< NEREID_CHECK=oob
  bool checkNan = false;    ///< NEREID_CHECK=nan
};

/// What every target runs first: checks, inlining of what is uniform, loops
/// with scalar induction, code out of loops. `pm` is anchored on a module.
void buildTilePipeline(mlir::OpPassManager &pm,
                       const TilePipelineOptions &options = {});

/// The rewrites of tile-simplify that are not canonicalisations of an op.
void populateSimplifyTilePatterns(mlir::RewritePatternSet &patterns);

/// Makes `--tile-pipeline` known to nereid-opt.
void registerTilePipelines();

} // namespace nereid::tile

#endif // NEREID_DIALECT_TILE_TRANSFORMS_PASSES_H
