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
  Value bufferOf(Value value, Operation *loop);

  func::FuncOp kernel;
  OpBuilder b;
  unsigned most; ///< bytes of buffers that exist at once
  struct Shared {
    Value buffer;
    Operation *free = nullptr;
  };
  /// By value and block of the loops.
  std::map<std::pair<void *, Block *>, Shared> buffers;
};

} // namespace

/// The outermost loop around `op` in front of which `value` is defined.
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

Value OperandSharer::bufferOf(Value value, Operation *loop) {
  auto &[buffer, free] =
      buffers[{value.getAsOpaquePointer(), loop->getBlock()}];
  if (buffer) {
    if (free->isBeforeInBlock(loop)) {
      free->moveAfter(loop);
    }
    return buffer;
  }
  auto type = oneSlotFor(cast<RankedTensorType>(value.getType()));
  unsigned taken = bufferBytesAt(loop);
  if (taken + type.getBytes() > most) {
    tellDecision(value.getLoc(), [&] {
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
  tellDecision(loc, [&] {
    return Decision{"dot operand",
                    "is written to shared memory once, in front of the loop, " +
                        byteCount(type.getBytes()),
                    "", "the loop does not change it", ""};
  });
  b.setInsertionPoint(loop);
  buffer = AllocOp::create(b, loc, type);
  Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  LocalStoreOp::create(b, loc, value, buffer, zero);
  b.setInsertionPointAfter(loop);
  free = FreeOp::create(b, loc, buffer);
  return buffer;
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
  Value buffer = loop ? bufferOf(value, loop) : Value();
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
