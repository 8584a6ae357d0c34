//===- Passes.h - Passes over instructions ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_TRANSFORMS_PASSES_H
#define NEREID_DIALECT_AMD_TRANSFORMS_PASSES_H

#include "nereid/Dialect/AMD/IR/AMD.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/Pass.h"

namespace nereid::amd {

#define GEN_PASS_DECL
#include "nereid/Dialect/AMD/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Dialect/AMD/Transforms/Passes.h.inc"

/// The pass, without a pass manager.
void expandToLLVM(mlir::ModuleOp module);

} // namespace nereid::amd

#endif // NEREID_DIALECT_AMD_TRANSFORMS_PASSES_H
