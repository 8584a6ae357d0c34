//===- TileOps.td - All operations of the dialect, by family -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEOPS
#define NEREID_DIALECT_TILE_IR_TILEOPS

include "nereid/Dialect/Tile/IR/TileDebugOps.td"
include "nereid/Dialect/Tile/IR/TileMapOps.td"
include "nereid/Dialect/Tile/IR/TileMemoryOps.td"
include "nereid/Dialect/Tile/IR/TileProgramOps.td"
include "nereid/Dialect/Tile/IR/TileReduceOps.td"
include "nereid/Dialect/Tile/IR/TileShapeOps.td"

#endif
