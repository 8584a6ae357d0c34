//===- ShareOperands.cpp - Operands that a loop does not change -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product by four warps reads the right operand, and the left one unless it
// may stay in registers, from shared memory. What was defined in front of the
// loop is written there once, in front of the outermost loop that does not
// change it, and stays until the loop ends, or the last such loop of the block:
//
//   %buffer = alloc; local_store %q, %buffer
//   for ...:
//     dot (local_load %buffer), ...
//   free %buffer
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Analysis/RegisterOperands.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

#include <map>

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_SHAREOPERANDS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

namespace {

class OperandSharer {
public:
  OperandSharer(func::FuncOp kernel, unsigned sharedLimit)
      : kernel(kernel), b(kernel.getContext()), most(sharedLimit / 2) {}

  void run();

private:
  void share(tile::DotOp dot, unsigned index);
  Value bufferOf(Value value, std::optional<unsigned> inner, Operation *loop);

  func::FuncOp kernel;
  OpBuilder b;
  unsigned most; ///< bytes of buffers that exist at once
  struct Shared {
    Value buffer;
    FreeOp free;
    bool isLive = false; ///< listed in `live`
  };
  unsigned bytesAt(Operation *loop);
  void keep(Shared &shared);

  /// By value, block of the loops, and along which dimension rows must run.
  std::map<std::tuple<void *, Block *, std::optional<unsigned>>, Shared>
      buffers;
  /// Those that may exist at the loop that comes next.
  SmallVector<Shared *> live;
};

} // namespace

/// The outermost loop around `op` after the definition of `value`.
static Operation *outermostLoop(Value value, Operation *op) {
  Operation *found = nullptr;
  for (Operation *at = op->getParentOp(); at && !isa<func::FuncOp>(at);
       at = at->getParentOp()) {
    if (at->isAncestor(value.getParentBlock()->getParentOp())) {
      break;
    }
    if (isa<LoopLikeOpInterface>(at)) {
      found = at;
    }
  }
  return found;
}

Value OperandSharer::bufferOf(Value value, std::optional<unsigned> inner,
                              Operation *loop) {
  Shared &shared =
      buffers[{value.getAsOpaquePointer(), loop->getBlock(), inner}];
  if (shared.buffer) {
    if (shared.free->isBeforeInBlock(loop)) {
      shared.free->moveAfter(loop);
      keep(shared);
    }
    return shared.buffer;
  }
  auto type = oneSlotFor(cast<RankedTensorType>(value.getType()), inner);
  unsigned taken = bytesAt(loop);
  if (taken + type.getBytes() > most) {
    reportDecision(value.getLoc(), [&] {
      return Decision{
          "dot operand", "is written to shared memory for each product",
          "once in front of the loop",
          byteCount(type.getBytes()) + " beside " + byteCount(taken) +
              " of other buffers are more than " + byteCount(most) +
              ", half of a block's shared memory",
          "a smaller block"};
    });
    return {};
  }
  Location loc = value.getLoc();
  reportDecision(loc, [&] {
    return Decision{"dot operand",
                    "is written to shared memory once, in front of the loop, " +
                        byteCount(type.getBytes()),
                    "", "the loop does not change it", ""};
  });
  b.setInsertionPoint(loop);
  shared.buffer = AllocOp::create(b, loc, type);
  Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  LocalStoreOp::create(b, loc, value, shared.buffer, zero);
  b.setInsertionPointAfter(loop);
  shared.free = FreeOp::create(b, loc, shared.buffer);
  keep(shared);
  return shared.buffer;
}

void OperandSharer::keep(Shared &shared) {
  if (!shared.isLive) {
    shared.isLive = true;
    live.push_back(&shared);
  }
}

/// Is `free` in front of `loop`, wherever it stands?
static bool isFreedBefore(FreeOp free, Operation *loop) {
  Operation *from = loop->getBlock()->findAncestorOpInBlock(*free);
  Operation *to = free->getBlock()->findAncestorOpInBlock(*loop);
  return (from && from != loop && from->isBeforeInBlock(loop)) ||
         (to && free->isBeforeInBlock(to));
}

/// Bytes of the buffers that exist in front of `loop`. Products are visited in
/// order: what is freed before one is freed before all that follow, and is
/// looked at for the last time.
unsigned OperandSharer::bytesAt(Operation *loop) {
  llvm::erase_if(live, [&](Shared *shared) {
    shared->isLive = !isFreedBefore(shared->free, loop);
    return !shared->isLive;
  });
  unsigned bytes = 0;
  for (Shared *shared : live) {
    // One inside of the loop is not there yet.
    if (shared->free->getBlock()->findAncestorOpInBlock(*loop)) {
      bytes += shared->free.getBuffer().getType().getBytes();
    }
  }
  return bytes;
}

void OperandSharer::share(tile::DotOp dot, unsigned index) {
  // In which registers it is does not matter, and a transpose is an order.
  Value value = dot->getOperand(index);
  DenseI32ArrayAttr order;
  while (Operation *from = value.getDefiningOp()) {
    auto transpose = dyn_cast<tile::TransposeOp>(from);
    if (!isa<ConvertLayoutOp>(from) && (!transpose || order)) {
      break;
    }
    if (transpose) {
      order = b.getDenseI32ArrayAttr(transpose.getOrder());
    }
    value = from->getOperand(0);
  }
  Operation *loop = outermostLoop(value, dot);
  std::optional<unsigned> inner = innerOfOperand(dot, index);
  if (inner && order) {
    inner = order[*inner];
  }
  Value buffer = loop ? bufferOf(value, inner, loop) : Value();
  if (!buffer) {
    return;
  }
  b.setInsertionPoint(dot);
  Value zero =
      arith::ConstantOp::create(b, dot.getLoc(), b.getI32IntegerAttr(0));
  dot->setOperand(index, LocalLoadOp::create(b, dot.getLoc(),
                                             dot->getOperand(index).getType(),
                                             buffer, zero, order));
}

void OperandSharer::run() {
  SmallVector<tile::DotOp> products;
  kernel.walk([&](tile::DotOp dot) {
    if (dot->hasAttr(warpgroupMmaAttr)) {
      products.push_back(dot);
    }
  });
  for (tile::DotOp dot : products) {
    if (!mayBeRegisterOperand(dot)) {
      share(dot, 0);
    }
    share(dot, 1);
  }
}

namespace {
struct ShareOperandsPass : impl::ShareOperandsBase<ShareOperandsPass> {
  void runOnOperation() override {
    const TargetInfo *target = targetOf(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    if (target->warpsOfGroup()) {
      OperandSharer(getOperation(), target->sharedLimit).run();
    }
    markAnalysesPreserved<AxisInfoAnalysis>(); // nothing is removed
  }
};
} // namespace

} // namespace nereid::tilegpu
