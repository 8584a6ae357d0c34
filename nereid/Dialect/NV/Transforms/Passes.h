//===- Passes.h - Passes over instructions ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_TRANSFORMS_PASSES_H
#define NEREID_DIALECT_NV_TRANSFORMS_PASSES_H

#include "nereid/Dialect/NV/IR/NV.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace nereid::nv {

#define GEN_PASS_DECL
#include "nereid/Dialect/NV/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Dialect/NV/Transforms/Passes.h.inc"

/// Unit, on the assembly of an `nv.wgmma`.
inline constexpr llvm::StringLiteral warpgroupProductAttr =
    "nv.warpgroup_product";
/// i32, on assembly that needs a later version of PTX than its processor does:
/// 84 for 8.4.
inline constexpr llvm::StringLiteral ptxVersionAttr = "nv.ptx_version";

/// The pass, without a pass manager.
void printAssembly(mlir::ModuleOp module);

} // namespace nereid::nv

#endif // NEREID_DIALECT_NV_TRANSFORMS_PASSES_H
