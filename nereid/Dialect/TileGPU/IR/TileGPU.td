//===- TileGPU.td - Tiles with layouts ---------------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_IR_TILEGPU
#define NEREID_DIALECT_TILEGPU_IR_TILEGPU

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::nereid::tilegpu";
  let summary = "Tile operations on tensors that say which thread holds what";
  let description = [{
    The operations are those of `tile`, `arith`, `math` and `scf`; what is new is
    the encoding of every tensor type, `#tilegpu.layout`, and the operations
    that move values from one layout to another. A kernel carries the number
    of warps of its program as `tilegpu.warps`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::nereid::tile::TileDialect"];
}

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Which element of a tile register r of lane l of warp w holds";
  let description = [{
    A linear layout (nereid/Layout/TileLayout.h): for every bit of the register,
    lane and warp number the flattened index that it adds, by exclusive or. The
    flattened index has ceil(log2(size)) bits a dimension, the last dimension
    lowest. 1024 elements on 4 warps, 4 neighbours a thread:
    ```mlir
    #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"uint32_t">:$registers,
    ArrayRefParameter<"uint32_t">:$lanes,
    ArrayRefParameter<"uint32_t">:$warps);
  let hasCustomAssemblyFormat = 1;
}

class TileGPU_Op<string mnemonic, list<Trait> traits = []> : Op<TileGPU_Dialect, mnemonic, traits>;

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "The same elements in other threads or registers";
  let description = [{
    Costs nothing, register renaming, warp shuffles or a trip through shared
    memory: nereid/Layout/ConversionPlan.h decides.
    ```mlir
    %y = tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

#endif
