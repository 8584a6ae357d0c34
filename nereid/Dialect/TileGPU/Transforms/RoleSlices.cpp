//===- RoleSlices.cpp - Each role's part of a kernel ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/RoleSlices.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid::tilegpu {

bool canSliceTo(Value value, Operation *at) {
  SmallVector<Value> work = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second) {
      continue;
    }
    if (isa<RankedTensorType>(next.getType())) {
      return false;
    }
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<func::FuncOp>(parent)) {
        continue;
      }
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!loop) {
        return false;
      }
      if (argument != loop.getInductionVar()) {
        work.push_back(loop.getInitArgs()[argument.getArgNumber() - 1]);
        work.push_back(loop.getYieldedValues()[argument.getArgNumber() - 1]);
      }
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned i = cast<OpResult>(next).getResultNumber();
      work.push_back(loop.getInitArgs()[i]);
      work.push_back(loop.getYieldedValues()[i]);
      work.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
      continue;
    }
    if (op->getNumRegions() || !isMemoryEffectFree(op)) {
      return false;
    }
    work.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

namespace {

/// What of a block the warps that copy need: their operations, and what those
/// come from.
class ProducerSlice {
public:
  explicit ProducerSlice(Block &block) : block(block) {}
  void reduce();

private:
  void need(Value value);
  void need(Operation *op);
  void needArgument(scf::ForOp loop, unsigned i);
  void reduce(Block &inner);
  void withoutArguments(scf::ForOp loop);

  Block &block;
  llvm::DenseSet<Operation *> ops;
  llvm::DenseSet<Value> arguments; ///< of loops
};

} // namespace

void ProducerSlice::needArgument(scf::ForOp loop, unsigned i) {
  if (arguments.insert(loop.getRegionIterArgs()[i]).second) {
    need(loop.getInitArgs()[i]);
    need(loop.getYieldedValues()[i]);
  }
}

void ProducerSlice::need(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument != loop.getInductionVar()) {
      needArgument(loop, argument.getArgNumber() - 1);
    }
    return;
  }
  Operation *op = value.getDefiningOp();
  need(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    needArgument(loop, cast<OpResult>(value).getResultNumber());
  }
}

void ProducerSlice::need(Operation *op) {
  if (!block.getParent()->isProperAncestor(op->getParentRegion()) &&
      op->getBlock() != &block) {
    return; // in front of both roles
  }
  if (!ops.insert(op).second) {
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
      need(bound);
    }
  } else {
    for (Value operand : op->getOperands()) {
      need(operand);
    }
  }
  if (op->getBlock() != &block) {
    need(op->getParentOp());
  }
}

/// The loop with the arguments that are needed alone.
void ProducerSlice::withoutArguments(scf::ForOp loop) {
  SmallVector<Value> inits, yields;
  SmallVector<unsigned> kept;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (arguments.contains(argument)) {
      kept.push_back(i);
      inits.push_back(loop.getInitArgs()[i]);
      yields.push_back(loop.getYieldedValues()[i]);
    }
  }
  OpBuilder b(loop);
  auto made = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.setUnsignedCmp(loop.getUnsignedCmp());
  made.getBody()->clear();
  loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  for (auto [at, i] : llvm::enumerate(kept)) {
    loop.getRegionIterArgs()[i].replaceAllUsesWith(
        made.getRegionIterArgs()[at]);
    loop.getResult(i).replaceAllUsesWith(made.getResult(at));
  }
  loop.getBody()->getTerminator()->erase();
  made.getBody()->getOperations().splice(made.getBody()->end(),
                                         loop.getBody()->getOperations());
  b.setInsertionPointToEnd(made.getBody());
  scf::YieldOp::create(b, loop.getLoc(), yields);
  loop.erase();
}

void ProducerSlice::reduce(Block &inner) {
  SmallVector<Operation *> list;
  for (Operation &op : inner.without_terminator()) {
    list.push_back(&op);
  }
  for (Operation *op : llvm::reverse(list)) {
    if (!ops.contains(op)) {
      op->dropAllUses();
      op->erase();
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // Yields of what is not needed go first: their operands are erased.
      Operation *yield = loop.getBody()->getTerminator();
      SmallVector<Value> values(yield->getOperands());
      for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
        if (!arguments.contains(argument)) {
          values[i] = argument;
        }
      }
      yield->setOperands(values);
      reduce(*loop.getBody());
      withoutArguments(loop);
    }
  }
}

void ProducerSlice::reduce() {
  block.walk([&](Operation *op) {
    auto grid = dyn_cast<tile::GridDependencyOp>(op);
    if (isa<FillSlotOp, CopyTileOp>(op) ||
        (grid && grid.getKind() == tile::GridDependency::Wait)) {
      need(op);
    }
  });
  reduce(block);
}

/// What is left when no warp that computes copies.
static void removeCopies(Block &block) {
  block.walk([](Operation *op) {
    if (isa<FillSlotOp, CopyTileOp>(op)) {
      op->erase();
    }
  });
  block.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op)) {
      op->erase();
    }
  });
}

/// What the assembler wants threads to begin with for the products'
/// instructions: room for the sums of one, of up to 256 columns, and
/// for some more.
static unsigned registersOfInstruction(func::FuncOp kernel,
                                       const TargetInfo &target) {
  constexpr int64_t mostSums = 128;
  constexpr unsigned others = 26;
  int64_t threads = int64_t(warpsOf(kernel)) * target.lanes, sums = 0;
  kernel.walk([&](tile::DotOp dot) {
    sums = std::max(sums, dot.getType().getNumElements() / threads);
  });
  return static_cast<unsigned>(std::min(sums, mostSums)) + others;
}

std::optional<unsigned> registersToBeginWith(func::FuncOp kernel,
                                             const TargetInfo &target) {
  unsigned warps = warpsOf(kernel), group = target.warpsOfGroup();
  unsigned threads = (warps + group) * target.lanes;
  unsigned wanted = registersOfInstruction(kernel, target);
  // Two blocks of one group share a processor, as two groups of a block do.
  for (unsigned blocks : {2, 1}) {
    // As the assembler deals them out.
    unsigned each =
        std::min(target.threadRegisters + 1,
                 target.processorRegisters / (threads * blocks) / 8 * 8);
    if (each >= wanted && (blocks == 1 || warps == group)) {
      return each;
    }
  }
  return std::nullopt;
}

scf::IfOp splitRoles(func::FuncOp kernel, const TargetInfo &target) {
  Block &entry = kernel.getBody().front();
  Location loc = kernel.getLoc();
  auto init = *entry.getOps<InitSlotsOp>().begin();
  // Of the rings, which are made in front of both roles.
  FreeOp firstFree = *llvm::find_if(entry.getOps<FreeOp>(), [&](FreeOp op) {
    return op.getBuffer().getDefiningOp()->isBeforeInBlock(init);
  });
  SmallVector<Operation *> body;
  for (auto at = std::next(Block::iterator(init)); &*at != firstFree; ++at) {
    body.push_back(&*at);
  }
  OpBuilder b(firstFree);
  Value isProducer = IsProducerOp::create(b, loc, b.getI1Type(), false);
  auto roles = scf::IfOp::create(b, loc, TypeRange(), isProducer,
                                 /*withElseRegion=*/true);
  unsigned warps = warpsOf(kernel), group = target.warpsOfGroup();
  unsigned threads = (warps + group) * target.lanes;
  unsigned each = *registersToBeginWith(kernel, target);
  constexpr unsigned ofProducer = 40;
  unsigned ofComputing =
      std::min(240u, (each * threads - ofProducer * group * target.lanes) /
                         (warps * target.lanes) / 8 * 8);
  bool moves = each < 240;

  b.setInsertionPointToStart(roles.thenBlock());
  if (moves) {
    SetRegistersOp::create(b, loc, ofProducer, false);
  }
  Value copies = IsProducerOp::create(b, loc, b.getI1Type(), true);
  auto one = scf::IfOp::create(b, loc, TypeRange(), copies,
                               /*withElseRegion=*/false);
  b.setInsertionPoint(one.thenBlock()->getTerminator());
  IRMapping map;
  for (Operation *op : body) {
    b.clone(*op, map);
  }
  ProducerSlice(*one.thenBlock()).reduce();

  b.setInsertionPointToStart(roles.elseBlock());
  if (moves) {
    SetRegistersOp::create(b, loc, ofComputing, true);
  }
  for (Operation *op : body) {
    op->moveBefore(roles.elseBlock()->getTerminator());
  }
  removeCopies(*roles.elseBlock());
  if (moves) {
    kernel->setAttr(mostRegistersAttr, b.getI32IntegerAttr(each));
  }
  kernel->setAttr(producerWarpsAttr, b.getI32IntegerAttr(group));
  return roles;
}

} // namespace nereid::tilegpu
