//===- Passes.td - Tiles with layouts to threads -----------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_PASSES
#define NEREID_CONVERSION_TILEGPUTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def TileGPUToLLVM : Pass<"tilegpu-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Tiles with layouts to what one thread does";
  let description = [{
    The kernel becomes an `llvm.func` of arith, math, scf and llvm operations on
    scalars, and of the processor's instructions (`machineDialects`), which
    every thread of a block runs: a tensor
    is one value for each live register of its layout. What a launch must know
    of it stands in its attributes (`readGpuKernel`).
  }];
  let options = [
    Option<"fpFusion", "fp-fusion", "bool", "true", "a * b + c may be rounded once">,
    Option<"streamedStores", "streamed-stores", "bool", "true", "what is only written may leave the first-level cache alone">,
    Option<"loopedProducts", "looped-products", "bool", "true", "the steps of a large product may be a loop">
  ];
}

#endif
