//===- InsertBarriers.cpp - Where all threads must meet -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/Hazards.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_INSERTBARRIERS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

/// Of accesses to global memory; trips through shared memory tell themselves.
static void reportOrder(Operation *op) {
  if (isa<tile::MemoryAccess>(op)) {
    reportDecision(op, [&] {
      return Decision{
          "order", "all warps wait at a barrier in front of it",
          "started at once",
          isa<tile::LoadAccess>(op)
              ? "the program wrote the same array through other pointers before"
              : "the program read or wrote the same array through other "
                "pointers before",
          "two arrays instead of one need no barrier"};
    });
  }
}

namespace {

class BarrierInserter : HazardWalk {
public:
  /// Fails where something that takes shared memory has no place.
  LogicalResult insert(func::FuncOp kernel);

private:
  Span spanOf(Operation *owner, unsigned piece) override;
  bool conflict(const Spans &read, const Spans &written) override {
    return read.meets(written);
  }
  void placeBefore(Operation *op) override {
    reportOrder(op);
    meetBefore(op);
  }
  void placeBeforePiece(Operation *op, unsigned piece) override;
  void placeAtStart(Block &block) override { meetBefore(&block.front()); }
  void placeAtEnd(Block &block) override { meetBefore(block.getTerminator()); }
  void meetBefore(Operation *next) {
    OpBuilder b(next);
    BarrierOp::create(b, next->getLoc(), Warps::All);
  }
};

} // namespace

Span BarrierInserter::spanOf(Operation *owner, unsigned piece) {
  unsigned begin, bytes;
  if (auto alloc = dyn_cast<AllocOp>(owner)) {
    begin = *alloc.getOffset();
    bytes = alloc.getType().getBytes();
  } else {
    auto scratch = owner->getAttrOfType<ScratchAttr>(scratchAttr);
    begin = scratch.getOffsets()[piece];
    bytes = piecesOf(owner)[piece].bytes;
  }
  return {begin, begin + bytes};
}

void BarrierInserter::placeBeforePiece(Operation *op, unsigned piece) {
  auto scratch = op->getAttrOfType<ScratchAttr>(scratchAttr);
  SmallVector<uint32_t> pieces(scratch.getBehindBarrier());
  pieces.push_back(piece);
  op->setAttr(scratchAttr,
              ScratchAttr::get(op->getContext(), scratch.getOffsets(), pieces,
                               scratch.getWarps()));
}

LogicalResult BarrierInserter::insert(func::FuncOp kernel) {
  auto result = kernel.walk([&](Operation *op) {
    auto alloc = dyn_cast<AllocOp>(op);
    auto scratch = op->getAttrOfType<ScratchAttr>(scratchAttr);
    size_t places = scratch ? scratch.getOffsets().size() : 0;
    if ((alloc && !alloc.getOffset()) || places != piecesOf(op).size()) {
      op->emitOpError("has no place in shared memory; expected "
                      "tilegpu-allocate-shared to have run");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  run(kernel);
  return success();
}

namespace {
struct InsertBarriersPass : impl::InsertBarriersBase<InsertBarriersPass> {
  void runOnOperation() override {
    if (failed(BarrierInserter().insert(getOperation()))) {
      signalPassFailure();
    }
  }
};
} // namespace

} // namespace nereid::tilegpu
