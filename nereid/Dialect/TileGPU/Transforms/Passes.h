//===- Passes.h - Passes over tiles with layouts ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace nereid::tilegpu {

#define GEN_PASS_DECL
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES_H
