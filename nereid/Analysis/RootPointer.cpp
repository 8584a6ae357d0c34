//===- RootPointer.cpp - The array of an address --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RootPointer.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nereid {

/// Do the results of `op` point into the array that its first operand does?
static bool staysInArray(Operation *op) {
  return isa<tile::AddPtrOp, tile::PtrCastOp, tile::HintOp, tile::SplatOp,
             tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
             tile::TransposeOp, tile::SplitOp, tilegpu::ConvertLayoutOp>(op);
}

/// The start of the chain of such operations that ends in `pointer`.
static Value startOfChain(Value pointer) {
  Operation *op = pointer.getDefiningOp();
  while (op && staysInArray(op)) {
    pointer = op->getOperand(0);
    op = pointer.getDefiningOp();
  }
  return pointer;
}

Value rootPointer(Value pointer) {
  while (true) {
    pointer = startOfChain(pointer);
    if (auto loop = pointer.getDefiningOp<scf::ForOp>()) {
      unsigned index = cast<OpResult>(pointer).getResultNumber();
      pointer = loop.getRegionIterArgs()[index];
    }
    auto argument = dyn_cast<BlockArgument>(pointer);
    if (!argument) {
      return {};
    }
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent)) {
      return argument;
    }
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || argument == loop.getInductionVar()) {
      return {};
    }
    // A loop may only advance it; else it may become another array.
    Value next = loop.getTiedLoopYieldedValue(argument)->get();
    if (startOfChain(next) != argument) {
      return {};
    }
    pointer = loop.getTiedLoopInit(argument)->get();
  }
}

} // namespace nereid
