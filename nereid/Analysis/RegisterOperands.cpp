//===- RegisterOperands.cpp - Left operands that may be registers ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RegisterOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid {

/// Does `op` become a call, for its rare cases or for all?
static bool mayCall(Operation *op) {
  if (auto divide = dyn_cast<arith::DivFOp>(op)) {
    return !bitEnumContainsAll(divide.getFastmath(), arith::FastMathFlags::afn);
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    return tile::getElement(op->getResult(0).getType()).isInteger(64);
  }
  return isa<math::SqrtOp, arith::RemFOp>(op);
}

/// Is there a branch in what becomes of `op`? Loops of atomics, reports of
/// faults, arguments of sin that are large.
static bool mayBranch(Operation *op) {
  if (mayCall(op) ||
      isa<tile::AtomicRMWOp, tile::AtomicCASOp, tile::InlineAsmOp,
          tile::PrintOp, tile::AssertOp, tile::CheckBoundsOp, tile::CheckNanOp,
          math::SinOp, math::CosOp, math::TanOp, math::SincosOp>(op)) {
    return true;
  }
  auto structured = dyn_cast<tile::StructuredOp>(op);
  if (structured && structured.mayBranch()) {
    return true;
  }
  if (!op->getNumRegions()) {
    return false;
  }
  bool inside = op->walk([&](Operation *inner) {
                    return inner != op && mayBranch(inner)
                               ? WalkResult::interrupt()
                               : WalkResult::advance();
                  }).wasInterrupted();
  // A structured operation combines elements by what its region says.
  return inside || !structured;
}

/// Does `value` depend on something that no compiler moves out of `block`?
static bool isTiedTo(Value value, Block *block) {
  SmallVector<Value> work = {value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value at = work.pop_back_val();
    if (!seen.insert(at).second) {
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(at)) {
      if (argument.getOwner() == block) {
        return true;
      }
      continue;
    }
    Operation *op = at.getDefiningOp();
    if (op->getBlock() != block) {
      continue;
    }
    if (isa<tile::DotOp>(op) || !isMemoryEffectFree(op) ||
        (op->getNumRegions() && !isa<tile::StructuredOp>(op))) {
      return true;
    }
    work.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

LeftOperandLimit leftOperandLimit(tile::DotOp dot) {
  Type element = tile::getElement(dot.getLhs().getType());
  if (element.getIntOrFloatBitWidth() != 16) {
    return LeftOperandLimit::Type;
  }
  if (dot->hasAttr(leftInRegistersAttr)) {
    return LeftOperandLimit::None;
  }
  Operation *from = dot.getLhs().getDefiningOp();
  if (!from || from->getBlock() != dot->getBlock()) {
    return LeftOperandLimit::OtherBlock;
  }
  for (Operation *op = from->getNextNode(); op != dot; op = op->getNextNode()) {
    if (mayBranch(op)) {
      return LeftOperandLimit::Branch;
    }
  }
  return !dot->getParentOfType<LoopLikeOpInterface>() ||
                 isTiedTo(dot.getLhs(), dot->getBlock())
             ? LeftOperandLimit::None
             : LeftOperandLimit::Untied;
}

static bool isInFrontOf(Value value, scf::ForOp loop) {
  return value.getParentBlock() == loop->getBlock();
}

/// Registers of a thread for a tensor that all threads share.
static unsigned registersOf(Value value, unsigned threads) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !isa<tile::PtrType>(type.getElementType())
             ? llvm::divideCeil(tile::getBytes(type), 4 * threads)
             : 0;
}

/// What the loop holds at once, roughly.
static unsigned registersHeld(scf::ForOp loop, unsigned threads) {
  unsigned held = 0;
  for (Value carried : loop.getRegionIterArgs()) {
    held += registersOf(carried, threads);
  }
  SmallPtrSet<void *, 4> counted;
  for (auto dot : loop.getBody()->getOps<tile::DotOp>()) {
    Value left = dot.getLhs();
    if ((isInFrontOf(left, loop) || mayBeRegisterOperand(dot)) &&
        counted.insert(left.getAsOpaquePointer()).second) {
      held += registersOf(left, threads);
    }
    // What the next iteration gets takes the registers of what this one got.
    if (!llvm::is_contained(loop.getYieldedValues(), dot.getResult())) {
      held += registersOf(dot.getResult(), threads);
    }
  }
  return held;
}

/// Can operands stay in registers through the loop?
static bool hasRoom(scf::ForOp loop, unsigned threads, unsigned registers) {
  // Warps of another role bring it to shared memory.
  auto roles = loop->getAttrOfType<IntegerAttr>("tile.warp_specialize");
  return !(roles && roles.getInt()) &&
         llvm::none_of(*loop.getBody(),
                       [](Operation &op) { return mayBranch(&op); }) &&
         registersHeld(loop, threads) <= registers * 3 / 4;
}

void keepLeftOperands(func::FuncOp kernel, unsigned threads,
                      unsigned registers) {
  DenseMap<Operation *, bool> roomy; // by loop
  DenseSet<Value> seen;
  auto canKeep = [&](OpOperand &use) {
    if (isa<tile::TransposeOp>(use.getOwner())) {
      return false; // for a product, which reads it from shared memory
    }
    auto product = dyn_cast<tile::DotOp>(use.getOwner());
    if (!product) {
      return true;
    }
    auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
    if (use.getOperandNumber() != 0 || !loop || !isInFrontOf(use.get(), loop)) {
      return false;
    }
    auto [known, isNew] = roomy.try_emplace(loop, false);
    if (isNew) {
      known->second = hasRoom(loop, threads, registers);
    }
    return known->second;
  };
  kernel.walk([&](tile::DotOp dot) {
    Value left = dot.getLhs();
    if (!seen.insert(left).second || !llvm::all_of(left.getUses(), canKeep)) {
      return;
    }
    for (Operation *user : left.getUsers()) {
      if (isa<tile::DotOp>(user)) {
        user->setAttr(leftInRegistersAttr, UnitAttr::get(user->getContext()));
      }
    }
  });
}

} // namespace nereid
