//===- TileGPUEnums.td - Enumerations of TileGPU ------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_IR_TILEGPUENUMS
#define NEREID_DIALECT_TILEGPU_IR_TILEGPUENUMS

include "mlir/IR/EnumAttr.td"

def TileGPU_Warps : I32EnumAttr<"Warps", "warps that meet at a barrier", [
    I32EnumAttrCase<"All", 0, "all">]> {
  let cppNamespace = "::nereid::tilegpu";
}

#endif
