//===- TileInterfaces.td - What passes ask of operations -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEINTERFACES
#define NEREID_DIALECT_TILE_IR_TILEINTERFACES

include "mlir/IR/OpBase.td"

def Tile_MemoryAccess : OpInterface<"MemoryAccess"> {
  let cppNamespace = "::nereid::tile";
  let description = [{
    An access to global memory: one element at each address of `ptr`, none where
    `mask` is false. It reads if it has a result, and writes if it has a value.
    One that only reads gives element i at address i, or element i of `other`;
    one that only writes puts element i of the value there. So a pass that asks for
    these two (LoadAccess, StoreAccess in Tile.h) knows all that the access
    does. An access in whose place another must not stand, for its order or its
    effect on other programs, is volatile.
  }];
  let methods = [
    InterfaceMethod<"Addresses, a block or a scalar.", "::mlir::Value", "getPtr">,
    InterfaceMethod<"Null: all elements.", "::mlir::Value", "getMask", (ins), "", "return {};">,
    InterfaceMethod<"What a read gives where the mask is false. Null: zero.",
      "::mlir::Value", "getOther", (ins), "", "return {};">,
    InterfaceMethod<"What is written, or combined with what is there. Null: the access does not write.",
      "::mlir::Value", "getValue", (ins), "", "return {};">,
    InterfaceMethod<"Where it is cached.", "::nereid::tile::CacheModifier", "getCache", (ins), "",
      "return ::nereid::tile::CacheModifier::None;">,
    InterfaceMethod<"How soon its lines may leave the cache.", "::nereid::tile::EvictionPolicy", "getEvict", (ins), "",
      "return ::nereid::tile::EvictionPolicy::Normal;">,
    InterfaceMethod<"Must it stay as it is: neither removed, nor repeated, nor moved?",
      "bool", "getIsVolatile", (ins), "", "return false;">,
  ];
  let extraClassDeclaration = [{
    /// What memory held. Null: the access does not read.
    ::mlir::Value getLoaded() {
      ::mlir::Operation *op = getOperation();
      return op->getNumResults() ? ::mlir::Value(op->getResult(0)) : ::mlir::Value();
    }
    bool reads() { return static_cast<bool>(getLoaded()); }
    bool writes() { return static_cast<bool>(getValue()); }
    /// As messages name it.
    ::llvm::StringRef getVerb() {
      return !writes() ? "load" : reads() ? "atomic" : "store";
    }
  }];
}

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
