//===- Atomic.cpp - Read-modify-write -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread does each element, in a branch; where several threads hold copies
// of the old value, it reaches the others through shared memory. A release
// waits for the other threads of the program, whose writes it must cover; after
// an acquire they wait for it.
//
// What there is no instruction for is computed here and swapped in, until no
// other thread came between. LLVM can make such loops too, but of the lanes of
// a warp each then leaves on its own; the assembler (13.0) yields in them and
// takes the lanes to be together after them, which they are not, and shuffles
// read lanes that are not there. So all lanes of a warp go around until the
// last is done.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/AccessReasons.h"
#include "nereid/Conversion/Lanes/AtomicKinds.h"
#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

/// Of 16 bits only sums of floats have one, of bf16 not on every target; of
/// more, all but extrema of floats.
static bool hasInstruction(tile::AtomicRMWOp op, Type element,
                           const tilegpu::TargetInfo &target) {
  if (op.getKind() == tile::AtomicKind::FAdd) {
    return !element.isBF16() || target.hasBf16Atomics;
  }
  return !isFloatKind(op.getKind()) && element.getIntOrFloatBitWidth() > 16;
}

/// What an operation of `kind` leaves in memory.
static Value updated(OpBuilder &b, Location loc, tile::AtomicKind kind,
                     Value old, Value value) {
  using K = tile::AtomicKind;
  switch (kind) {
  case K::Add:
    return arith::AddIOp::create(b, loc, old, value);
  case K::FAdd:
    return arith::AddFOp::create(b, loc, old, value);
  case K::Max:
    return arith::MaxSIOp::create(b, loc, old, value);
  case K::Min:
    return arith::MinSIOp::create(b, loc, old, value);
  case K::UMax:
    return arith::MaxUIOp::create(b, loc, old, value);
  case K::UMin:
    return arith::MinUIOp::create(b, loc, old, value);
  case K::FMax:
    return arith::MaxNumFOp::create(b, loc, old, value);
  case K::FMin:
    return arith::MinNumFOp::create(b, loc, old, value);
  case K::And:
    return arith::AndIOp::create(b, loc, old, value);
  case K::Or:
    return arith::OrIOp::create(b, loc, old, value);
  case K::Xor:
    return arith::XOrIOp::create(b, loc, old, value);
  case K::Xchg:
    return value;
  }
  llvm_unreachable("all kinds are handled");
}

Value KernelEmitter::updateInLoop(tile::AtomicRMWOp op, Value address,
                                  Value value, Value active) {
  Type element = tile::getElement(op.getResult().getType());
  unsigned bits = element.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits);
  Value first = machine->loadRelaxed(address, word, active, op.getScope());
  Type operand = isFloatKind(op.getKind()) ? element : Type(word);
  auto as = [&](Value v) { return fromBits(bitsOf(v), operand); };
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{word, active.getType()}, ValueRange{first, active},
      [&](OpBuilder &, Location, ValueRange arguments) {
        Value old = arguments[0], pending = arguments[1];
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(old.getParentBlock());
        Value wanted =
            bitsOf(updated(b, loc, op.getKind(), as(old), as(value)));
        Value seen = machine->compareAndSwap(address, old, wanted, pending,
                                             op.getSemantic(), op.getScope());
        Value raced =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, seen, old);
        Value again = arith::AndIOp::create(b, loc, pending, raced);
        scf::ConditionOp::create(b, loc, machine->anyLane(again),
                                 ValueRange{seen, again});
      },
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        scf::YieldOp::create(inner, loc, arguments);
      });
  return loop.getResult(0);
}

/// Elements that one instruction updates, where they lie side by side.
AccessWidth KernelEmitter::atomicWidth(tile::AtomicRMWOp op, Type element) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  bool isFloatSum = op.getKind() == tile::AtomicKind::FAdd;
  unsigned most = target.atomicBytes(isFloatSum, bytes) / bytes;
  AccessWidth width = accessWidth(op.getPtr(), op.getMask());
  return width.elements < most ? width : AccessWidth{most, WidthLimit::Most};
}

void KernelEmitter::reportAtomic(Operation *op, AccessWidth width, bool loops) {
  if (!tellsDecisions(op->getContext())) {
    return;
  }
  auto rmw = dyn_cast<tile::AtomicRMWOp>(op);
  Type element = tile::getElement(op->getResult(0).getType());
  auto semantic =
      rmw ? rmw.getSemantic() : cast<tile::AtomicCASOp>(op).getSemantic();
  if (loops) {
    recordDecision(op->getLoc(),
                   {"atomic", "a loop of compare-and-swap for each element",
                    "one instruction",
                    target.name + " has no instruction for '" +
                        tile::stringifyAtomicKind(rmw.getKind()).str() +
                        "' of " + elementName(element),
                    "32-bit elements have more of them"});
  } else if (rmw) {
    unsigned bytes = tile::getElementBytes(element);
    bool isFloatSum = rmw.getKind() == tile::AtomicKind::FAdd;
    AccessForm form{width, rmw.getPtr(), rmw.getMask(),
                    target.atomicBytes(isFloatSum, bytes),
                    int64_t{target.lanes} * warps};
    recordDecision(op->getLoc(), decisionOf("atomic", form, axes));
  }
  if (isRelease(semantic) || isAcquire(semantic)) {
    recordDecision(
        op->getLoc(),
        {"atomic",
         "the program's threads wait for each other around it, and a fence "
         "orders memory",
         "unordered",
         "its order is '" + tile::stringifyMemSemantic(semantic).str() +
             "', which the language takes where none is said",
         "sem=\"relaxed\" where no program waits for what others wrote"});
  }
}

void KernelEmitter::emitAtomic(Operation *op) {
  auto rmw = dyn_cast<tile::AtomicRMWOp>(op);
  auto cas = dyn_cast<tile::AtomicCASOp>(op);
  Value pointerOperand = op->getOperand(0);
  bool isTensor = isa<RankedTensorType>(pointerOperand.getType());
  Type element = tile::getElement(op->getResult(0).getType());
  Type lane = laneType(element);
  unsigned bits = lane.getIntOrFloatBitWidth();
  if (bits < 16) {
    fail(op, "atomic operations on 8-bit elements");
    return;
  }
  auto semantic = rmw ? rmw.getSemantic() : cas.getSemantic();
  auto scope = rmw ? rmw.getScope() : cas.getScope();
  auto list = [&](Value value) {
    return isTensor ? regs(value) : Registers{scalar(value)};
  };
  Registers values = list(rmw ? rmw.getValue() : cas.getValue());
  Registers compares;
  if (cas) {
    compares = list(cas.getCompare());
  }
  const TileInfo *tile = isTensor ? &info(pointerOperand.getType()) : nullptr;
  Value once =
      isTensor ? isFirstCopy(tile->layout)
               : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             thread, ops().i32(0)));
  bool isUsed = !op->getResult(0).use_empty();
  bool loops = rmw && !hasInstruction(rmw, element, target);
  bool isUpdate = rmw && !loops;
  AccessWidth most;
  if (isUpdate && isTensor) {
    most = atomicWidth(rmw, element);
  }
  reportAtomic(op, most, loops);
  unsigned width = most.elements;
  AccessShape shape(bits, width);
  SmallVector<unsigned> live;
  for (unsigned r = 0; r < values.size(); r += width) {
    if (!tile || !tile->dead[r]) {
      live.push_back(r);
    }
  }
  if (beginsWithBarrier(op)) {
    barrier();
  }
  // One fence on each side of several, instead of one in each.
  bool hasFences = isUpdate && live.size() > 1;
  AtomicUpdate update{rmw ? rmw.getKind() : tile::AtomicKind::Xchg, element,
                      hasFences ? tile::MemSemantic::Relaxed : semantic, scope};
  if (hasFences && isRelease(semantic)) {
    machine->fence(scope);
  }
  GlobalAddresses places = globalAddresses(pointerOperand);
  Registers result(values.size());
  for (unsigned r : live) {
    Value mask = andOf(
        once, accessMask(pointerOperand, rmw ? rmw.getMask() : Value(), r));
    auto [address, distance] = globalAddress(places, r);
    if (isUpdate) {
      SmallVector<Value> words =
          toWords(ArrayRef<Value>(values).slice(r, width), shape);
      Values old =
          machine->atomicUpdate({Space::Global, address, distance, shape, mask},
                                words, update, isUsed);
      if (isUsed) {
        llvm::copy(fromWords(SmallVector<Value>(old), shape, lane, width),
                   result.begin() + r);
      }
      continue;
    }
    if (distance) {
      address = arith::AddIOp::create(b, loc, address,
                                      ops().integer(b.getI64Type(), distance));
    }
    Value active = mask ? mask : ops().integer(b.getI1Type(), 1);
    Value old = loops ? updateInLoop(rmw, address, values[r], active)
                      : machine->compareAndSwap(address, bitsOf(compares[r]),
                                                bitsOf(values[r]), active,
                                                semantic, scope);
    result[r] = fromBits(old, lane);
  }
  if (hasFences && isAcquire(semantic)) {
    machine->fence(scope);
  }
  if (isUsed && !isTensor) {
    unsigned scratch = acquireScratch();
    Value at = sharedAddress(scratch);
    storeShared(at, {result[0]}, once);
    barrier();
    result[0] = loadShared(at, lane, 1)[0];
  } else if (isUsed && once) {
    const TileInfo &values = info(op->getResult(0).getType());
    unsigned scratch = acquireScratch();
    storeRowMajor(scratch, values, result);
    barrier();
    result = loadRowMajor(scratch, values);
  } else if (endsWithBarrier(op)) {
    barrier();
  }
  if (isTensor) {
    bind(op->getResult(0), std::move(result));
  } else {
    scalars[op->getResult(0)] = result[0];
  }
}

void addAtomicLowerings(LoweringTable &table) {
  table.add<tile::AtomicRMWOp, &KernelEmitter::emitAtomic>();
  table.add<tile::AtomicCASOp, &KernelEmitter::emitAtomic>();
}

} // namespace nereid::togpu
