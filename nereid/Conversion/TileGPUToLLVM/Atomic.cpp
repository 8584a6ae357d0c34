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
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/AtomicKinds.h"
#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

using namespace mlir;

namespace nereid::togpu {

static StringRef scopeName(tile::MemScope scope) {
  switch (scope) {
  case tile::MemScope::Block:
    return "block";
  case tile::MemScope::Device:
    return "device";
  case tile::MemScope::System:
    return "";
  }
  return "";
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
  StringRef scope = scopeName(rmw ? rmw.getScope() : cas.getScope());
  auto list = [&](Value value) {
    return isTensor ? regs(value) : Registers{scalar(value)};
  };
  Registers pointers = list(pointerOperand);
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
  if (isRelease(semantic)) {
    barrier();
  }
  // bf16 travels as its bits; LLVM must see the float to add it.
  bool isFloat = rmw && isFloatKind(rmw.getKind());
  Type atomicType = isFloat ? element : Type(b.getIntegerType(bits));
  LLVM::AtomicOrdering ordering = orderingOf(semantic);
  auto perform = [&](Value address, Value value, Value compare) -> Value {
    address = LLVM::AddrSpaceCastOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
    auto as = [&](Value v) -> Value {
      v = bitsOf(v);
      return v.getType() == atomicType
                 ? v
                 : Value(arith::BitcastOp::create(b, loc, atomicType, v));
    };
    Value old;
    if (rmw) {
      old = LLVM::AtomicRMWOp::create(b, loc, binOpOf(rmw.getKind()), address,
                                      as(value), ordering, scope);
    } else {
      auto exchange = LLVM::AtomicCmpXchgOp::create(
          b, loc, address, as(compare), as(value), ordering,
          failureOrdering(ordering), scope);
      old = LLVM::ExtractValueOp::create(b, loc, exchange, 0);
    }
    if (old.getType() != b.getIntegerType(bits)) {
      old = arith::BitcastOp::create(b, loc, b.getIntegerType(bits), old);
    }
    return fromBits(old, lane);
  };
  Registers result(pointers.size());
  for (unsigned r = 0; r < pointers.size(); ++r) {
    if (tile && tile->dead[r]) {
      continue;
    }
    Value mask = andOf(
        once, accessMask(pointerOperand, rmw ? rmw.getMask() : Value(), r));
    Value compare = cas ? compares[r] : Value();
    if (!mask) {
      result[r] = perform(pointers[r], values[r], compare);
      continue;
    }
    Value zero = fromBits(ops().integer(b.getIntegerType(bits), 0), lane);
    auto branch = scf::IfOp::create(b, loc, TypeRange(lane), mask,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    branch.thenBlock()->clear();
    branch.elseBlock()->clear();
    b.setInsertionPointToEnd(branch.thenBlock());
    Value old = perform(pointers[r], values[r], compare);
    scf::YieldOp::create(b, loc, old);
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, zero);
    b.setInsertionPointAfter(branch);
    result[r] = branch.getResult(0);
  }
  bool isUsed = !op->getResult(0).use_empty();
  if (isUsed && !isTensor) {
    SharedRegion region = acquire(8);
    Value at = sharedAddress(region.offset, ops().i32(0), element);
    storeShared(at, {result[0]}, once);
    publish(region);
    result[0] = loadShared(at, lane, 1)[0];
  } else if (isUsed && once) {
    int64_t count = elementCount(tile->shape);
    SharedRegion region = acquire(tile::getElementBytes(element) * count);
    for (unsigned r = 0; r < result.size(); ++r) {
      if (!tile->dead[r]) {
        storeShared(
            sharedAddress(region.offset, rowMajorIndex(*tile, r), element),
            {result[r]}, andOf(insideShape(*tile, r), once));
      }
    }
    publish(region);
    for (unsigned r = 0; r < result.size(); ++r) {
      if (tile->dead[r]) {
        continue;
      }
      Value position = safeRowMajorIndex(*tile, r);
      result[r] = loadShared(sharedAddress(region.offset, position, element),
                             lane, 1)[0];
    }
  } else if (isAcquire(semantic)) {
    barrier();
  }
  if (isTensor) {
    bind(op->getResult(0), std::move(result));
  } else {
    scalars[op->getResult(0)] = result[0];
  }
}

} // namespace nereid::togpu
