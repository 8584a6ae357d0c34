//===- Passes.td - Passes over instructions ----------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_TRANSFORMS_PASSES
#define NEREID_DIALECT_AMD_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ExpandToLLVM : Pass<"amd-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Instructions as LLVM has them, predicates as branches";
  let description = [{
    The last pass before the translation to LLVM IR: every `amd` operation becomes
    operations of `llvm`, in a block of their own where there is a predicate.
    `rocdl` operations stay; LLVM's translation knows them.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
}

#endif // NEREID_DIALECT_AMD_TRANSFORMS_PASSES
