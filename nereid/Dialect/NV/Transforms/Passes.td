//===- Passes.td - Passes over instructions ----------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_TRANSFORMS_PASSES
#define NEREID_DIALECT_NV_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def PrintAssembly : Pass<"nv-print-assembly", "::mlir::ModuleOp"> {
  let summary = "Instructions that LLVM has no intrinsic for, as inline assembly";
  let description = [{
    The last pass before the translation to LLVM IR: every `nv` operation
    becomes an `llvm.inline_asm`. What later stages must know of one is an
    attribute of it (Passes.h). `nvvm` operations stay; LLVM's translation
    knows them.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NEREID_DIALECT_NV_TRANSFORMS_PASSES
