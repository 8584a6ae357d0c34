//===- TileInterfaces.td - What passes ask of operations -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEINTERFACES
#define NEREID_DIALECT_TILE_IR_TILEINTERFACES

include "mlir/IR/OpBase.td"

def Tile_StructuredOp : OpInterface<"StructuredOp"> {
  let cppNamespace = "::nereid::tile";
  let description = [{
    An operation whose results' elements come from elements of operands at other
    positions, so that threads exchange them. It says where its operands and
    results lie among the threads relative to each other, which blocks stand
    whole in shared memory meanwhile, and whose elements it hands on. The choice
    of layouts, the allocation of shared memory and the checks of addresses ask
    this; they do not name the operation.
  }];
  let methods = [
    InterfaceMethod<"Where operand `index` must lie. Another operand is named only if it comes before.",
      "::nereid::tile::Placement", "getOperandPlacement", (ins "unsigned":$index),
      "", "return {::nereid::tile::Placement::Anywhere};">,
    InterfaceMethod<"Where result `index` then lies.",
      "::nereid::tile::Placement", "getResultPlacement", (ins "unsigned":$index),
      "", "return {::nereid::tile::Placement::Standard};">,
    InterfaceMethod<"Blocks that stand in shared memory, row by row, all at once.",
      "::llvm::SmallVector<::mlir::Type>", "getSharedBlocks", (ins), "", "return {};">,
    InterfaceMethod<"Operands whose elements are elements of the results: an address among them is an address into the same array.",
      "::llvm::SmallVector<::mlir::Value>", "getElementSources", (ins), "", "return {};">,
    InterfaceMethod<"Is something done for those elements only that fulfil a condition? A branch then stands where the operation was.",
      "bool", "mayBranch", (ins), "", "return false;">,
  ];
}

#endif
