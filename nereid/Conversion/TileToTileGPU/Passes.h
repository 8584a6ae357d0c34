//===- Passes.h - Which thread holds which element --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives every tensor of a kernel a layout, and before that brings comparisons
// and sums of products into the form that threads compute best.
// docs/TileToTileGPU.md tells how the layouts are chosen.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOTILEGPU_PASSES_H
#define NEREID_CONVERSION_TILETOTILEGPU_PASSES_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace nereid {

#define GEN_PASS_DECL
#include "nereid/Conversion/TileToTileGPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Conversion/TileToTileGPU/Passes.h.inc"

} // namespace nereid

#endif // NEREID_CONVERSION_TILETOTILEGPU_PASSES_H
