//===- LaneByLane.cpp - Accesses without an instruction -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the processor has no vector instruction for is a loop over the lanes,
// from one that is on to the next. Masked runs of neighbours are vectors all
// the same where a page, or a mask that is on in all lanes, allows it.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/ElementEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tocpu {

int64_t bytesOf(Type type) {
  return isa<LLVM::LLVMPointerType>(type)
             ? 8
             : std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

/// The addresses of a run, for what goes lane by lane.
Lane ElementEmitter::runAddresses(Lane first, int64_t step) {
  LaneOps ops = at(first.level);
  Value base =
      LLVM::PtrToIntOp::create(ops.b, ops.loc, ops.b.getI64Type(), first.value);
  Value offsets = ops.lanesOf(ops.b.getI64Type(), *iota(step));
  return {ops.add(ops.splat(base, lanes), offsets), first.level};
}

/// The lanes of a mask as the low bits of an i32, of more than 32 as an i64's.
static Value bitsOf(LaneOps ops, Value mask) {
  unsigned lanes = cast<VectorType>(mask.getType()).getNumElements();
  Type exact = ops.b.getIntegerType(lanes);
  Type type = ops.b.getIntegerType(lanes <= 32 ? 32 : 64);
  Value bits = LLVM::BitcastOp::create(ops.b, ops.loc, exact, mask);
  return exact == type
             ? bits
             : Value(arith::ExtUIOp::create(ops.b, ops.loc, type, bits));
}

void ElementEmitter::forEachLane(
    ArrayRef<Value> vectors, Value mask,
    llvm::function_ref<void(Value, ValueRange)> body) {
  OpBuilder &b = kernel.b;
  LaneOps ops = kernel.ops();
  SmallVector<Value> inputs(vectors);
  if (mask) {
    inputs.push_back(mask);
  }
  auto guarded = [&](Value lane, SmallVector<Value> scalars) {
    if (!mask) {
      return body(lane, scalars);
    }
    Value on = scalars.pop_back_val();
    if (!on.getType().isInteger(1)) {
      on = arith::TruncIOp::create(b, ops.loc, b.getI1Type(), on);
    }
    auto branch = scf::IfOp::create(b, ops.loc, on, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    body(lane, scalars);
  };
  if (lanes == 1) {
    return guarded(ops.i64(0), inputs);
  }
  bool byBits = mask && isVector(mask) && lanes <= 64;
  if (byBits) {
    inputs.pop_back();
  }
  SmallVector<Value> arrays;
  for (Value &input : inputs) {
    if (!isVector(input)) {
      arrays.push_back(nullptr);
      continue;
    }
    Type element = getElementTypeOrSelf(input.getType());
    if (element.isInteger(1)) {
      element = b.getI8Type();
      input =
          arith::ExtUIOp::create(b, ops.loc, typeLike(element, input), input);
    }
    arrays.push_back(kernel.stackArray(element, lanes));
    LLVM::StoreOp::create(b, ops.loc, input, arrays.back(), bytesOf(element));
  }
  auto scalarsAt = [&](Value lane) {
    SmallVector<Value> scalars;
    for (auto [input, array] : llvm::zip(inputs, arrays)) {
      if (!array) {
        scalars.push_back(input);
        continue;
      }
      Type element = getElementTypeOrSelf(input.getType());
      Value slot = LLVM::GEPOp::create(b, ops.loc, array.getType(), element,
                                       array, ValueRange{lane});
      scalars.push_back(LLVM::LoadOp::create(b, ops.loc, element, slot));
    }
    return scalars;
  };
  if (!byBits) {
    scf::ForOp loop = kernel.createFor(ops.i64(0), ops.i64(lanes), ops.i64(1));
    guarded(loop.getInductionVar(), scalarsAt(loop.getInductionVar()));
    return kernel.yield({});
  }
  // From one lane that is on to the next: `bits & (bits - 1)`.
  Value bits = bitsOf(ops, mask);
  Type type = bits.getType();
  auto asIndex = [&](Value value) -> Value {
    return lanes <= 32 ? Value(arith::ExtUIOp::create(b, ops.loc,
                                                      b.getI64Type(), value))
                       : value;
  };
  Value count = asIndex(LLVM::CtPopOp::create(b, ops.loc, type, bits));
  scf::ForOp loop = kernel.createFor(ops.i64(0), count, ops.i64(1), bits);
  Value left = loop.getRegionIterArg(0);
  Value lane = asIndex(LLVM::CountTrailingZerosOp::create(
      b, ops.loc, type, left, /*is_zero_poison=*/true));
  body(lane, scalarsAt(lane));
  Value less = ops.sub(left, ops.integer(type, 1));
  kernel.yield(Value(arith::AndIOp::create(b, ops.loc, left, less)));
}

Lane ElementEmitter::loadLaneByLane(Lane addresses, Type type, Lane mask,
                                    Lane other) {
  unsigned level = std::max({addresses.level, mask.level, other.level});
  Value rest = otherVector(type, other, level);
  Value on = mask.value ? vectorOf(mask) : Value();
  at(level);
  Value array = kernel.stackArray(type, lanes);
  LaneOps ops = at(level);
  int64_t bytes = bytesOf(type);
  LLVM::StoreOp::create(ops.b, ops.loc, rest, array, bytes);
  forEachLane({addresses.value}, on, [&](Value lane, ValueRange scalars) {
    Value from = scalars[0];
    if (!isa<LLVM::LLVMPointerType>(from.getType())) {
      from = LLVM::IntToPtrOp::create(ops.b, ops.loc, array.getType(), from);
    }
    Value loaded = LLVM::LoadOp::create(ops.b, ops.loc, type, from, bytes);
    Value slot = LLVM::GEPOp::create(ops.b, ops.loc, array.getType(), type,
                                     array, ValueRange{lane});
    LLVM::StoreOp::create(ops.b, ops.loc, loaded, slot, bytes);
  });
  ops = at(level);
  Type result = lanes == 1 ? type : Type(VectorType::get({lanes}, type));
  return {LLVM::LoadOp::create(ops.b, ops.loc, result, array, bytes), level};
}

/// A masked run where the processor has no masked loads of its elements. Memory
/// can be read or not by the page: what lies in one page with a lane that is on
/// is read with it, and not looked at. Only a vector that crosses into another
/// page, and has lanes that are off, goes lane by lane.
Lane ElementEmitter::loadMaskedRun(Lane address, Type type, Lane mask,
                                   Lane other, bool reversed) {
  constexpr int64_t pageBytes = 4096;
  auto vectorType = VectorType::get({lanes}, type);
  int64_t bytes = bytesOf(type), size = bytes * lanes;
  unsigned level = std::max({address.level, mask.level, other.level});
  Value on = vectorOf(mask), rest = otherVector(type, other, level);
  LaneOps ops = at(level);
  Value first = reversed ? ops.byteOffset(address.value, -bytes * (lanes - 1))
                         : address.value;
  Value bits =
      LLVM::BitcastOp::create(ops.b, ops.loc, ops.b.getIntegerType(lanes), on);
  using P = arith::CmpIPredicate;
  Value any = arith::CmpIOp::create(ops.b, ops.loc, P::ne, bits,
                                    ops.integer(bits.getType(), 0));
  auto outer = scf::IfOp::create(ops.b, ops.loc, TypeRange{vectorType}, any,
                                 /*withElseRegion=*/true);
  OpBuilder::InsertPoint outside = anchors[level];
  enter(outer);
  auto within = [&](Block *block) {
    anchors[level] = OpBuilder::InsertPoint(block, block->end());
    return at(level);
  };
  ops = within(outer.elseBlock());
  scf::YieldOp::create(ops.b, ops.loc, rest);
  ops = within(outer.thenBlock());
  Value place =
      LLVM::PtrToIntOp::create(ops.b, ops.loc, ops.b.getI64Type(), first);
  Value inPage =
      arith::AndIOp::create(ops.b, ops.loc, place, ops.i64(pageBytes - 1));
  Value whole = arith::CmpIOp::create(ops.b, ops.loc, P::ule, inPage,
                                      ops.i64(pageBytes - size));
  Value all = arith::CmpIOp::create(ops.b, ops.loc, P::eq, bits,
                                    ops.integer(bits.getType(), -1));
  auto inner =
      scf::IfOp::create(ops.b, ops.loc, TypeRange{vectorType},
                        arith::OrIOp::create(ops.b, ops.loc, whole, all), true);
  enter(inner);
  ops = within(inner.thenBlock());
  Value loaded = LLVM::LoadOp::create(ops.b, ops.loc, vectorType, first, bytes);
  if (reversed) {
    SmallVector<int64_t> order;
    for (unsigned i = 0; i < lanes; ++i) {
      order.push_back(lanes - 1 - i);
    }
    loaded = ops.shuffle(loaded, order);
  }
  Value chosen = arith::SelectOp::create(ops.b, ops.loc, on, loaded, rest);
  scf::YieldOp::create(ops.b, ops.loc, chosen);
  within(inner.elseBlock());
  Lane slow = loadLaneByLane(
      runAddresses({address.value, level}, reversed ? -bytes : bytes), type,
      {on, level}, {rest, level});
  ops = at(level);
  scf::YieldOp::create(ops.b, ops.loc, slow.value);
  ops = within(outer.thenBlock());
  scf::YieldOp::create(ops.b, ops.loc, inner.getResult(0));
  anchors[level] = outside;
  if (std::next(Block::iterator(outer)) == outer->getBlock()->end()) {
    leave(outer);
  }
  return {outer.getResult(0), level};
}

/// A masked run where the processor has no masked stores of its elements: a
/// whole vector where all lanes are on, else those that are on, one by one.
void ElementEmitter::storeMaskedRun(const LanePointer &to, Value value,
                                    Value on) {
  unsigned level = innermost(), addressLevel;
  Type type = getElementTypeOrSelf(value.getType());
  int64_t bytes = bytesOf(type);
  Value address = scalarAddress(to, &addressLevel);
  LaneOps ops = at(level);
  OpBuilder::InsertionGuard guard(ops.b);
  Value bits =
      LLVM::BitcastOp::create(ops.b, ops.loc, ops.b.getIntegerType(lanes), on);
  Value all = arith::CmpIOp::create(ops.b, ops.loc, arith::CmpIPredicate::eq,
                                    bits, ops.integer(bits.getType(), -1));
  auto branch = scf::IfOp::create(ops.b, ops.loc, all, true);
  ops.b.setInsertionPoint(branch.thenBlock()->getTerminator());
  LLVM::StoreOp::create(ops.b, ops.loc, value, address, bytes);
  ops.b.setInsertionPoint(branch.elseBlock()->getTerminator());
  forEachLane({value}, on, [&](Value lane, ValueRange scalars) {
    Value slot = LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), type,
                                     address, ValueRange{lane});
    LLVM::StoreOp::create(ops.b, ops.loc, scalars[0], slot, bytes);
  });
}

} // namespace nereid::tocpu
