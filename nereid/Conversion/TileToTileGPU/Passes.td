//===- Passes.td - Tile to tiles with layouts --------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOTILEGPU_PASSES
#define NEREID_CONVERSION_TILETOTILEGPU_PASSES

include "mlir/Pass/PassBase.td"

def NarrowComparisons : Pass<"tile-narrow-comparisons", "::mlir::func::FuncOp"> {
  let summary = "Comparisons of 64 bits that 32 bits decide";
  let description = [{
    64-bit comparisons of `uniform + range` with a uniform bound become 32-bit
    comparisons of the range, with the same results.
  }];
}

def AccumulateProducts : Pass<"tile-accumulate-products", "::mlir::func::FuncOp"> {
  let summary = "A sum with a product starts from the other summand";
  let description = [{
    `c + dot(a, b)`, as kernels write `acc += tl.dot(a, b)`, becomes a product
    that begins with c, as the matrix instructions do: a second block of
    accumulators would take as many registers again. Sums of floats only with
    `fp-fusion`, because they are rounded in another order.
  }];
  let options = [
    Option<"fpFusion", "fp-fusion", "bool", "true", "a * b + c may be rounded once">
  ];
}

def TileToTileGPU : Pass<"tile-to-tilegpu", "::mlir::ModuleOp"> {
  let summary = "Give every tensor a layout over registers, lanes and warps";
  let description = [{
    Also writes down on the kernel what it is compiled for: `tilegpu.target`
    and `tilegpu.warps`, and `tilegpu.matrix_size` where it is asked for, which
    the passes after it ask.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"", "a GPU that the dialect knows">,
    Option<"warps", "warps", "unsigned", "4", "warps that run a program">,
    Option<"usesMatrix", "matrix-instructions", "bool", "true", "products may use them">,
    Option<"sharesRows", "shared-rows", "bool", "true", "warps may share rows whose weights would fill registers">,
    Option<"adoptsTiles", "small-tiles", "bool", "true", "small tiles may be accessed where they are used, not coalesced">,
    Option<"matrixSize", "matrix-size", "unsigned", "0", "rows of a matrix instruction; 0: the target's first">
  ];
  let dependentDialects = ["::nereid::tilegpu::TileGPUDialect"];
}

#endif
