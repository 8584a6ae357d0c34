//===- ReduceWarp.cpp - A reduction of all lanes in a few instructions ----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the processor combines an i32 of every lane in one instruction,
// integers need no shuffles, and neither does the best of (value, index) pairs:
// the best value by a key that orders as the values do, the least index among
// those that have it, and the value that stands there. Five steps of shuffles
// compare pairs by a dozen instructions each. All lanes get the same bits.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"
#include "nereid/Conversion/TileGPUToLLVM/Instructions.h"
#include "nereid/Conversion/TileGPUToLLVM/Partial.h"
#include "nereid/Dialect/Tile/IR/PairOrder.h"

using namespace mlir;

namespace nereid::togpu {

/// What a region of one operation does to two i32.
static std::optional<LaneReduction> laneReductionOf(Region &combine) {
  Block &block = combine.front();
  Operation *op = &block.front();
  if (block.getNumArguments() != 2 ||
      !block.getArgument(0).getType().isInteger(32) ||
      op->getNextNode() != block.getTerminator() || op->getNumOperands() != 2 ||
      block.getTerminator()->getOperand(0) != op->getResult(0) ||
      !((op->getOperand(0) == block.getArgument(0) &&
         op->getOperand(1) == block.getArgument(1)) ||
        (op->getOperand(0) == block.getArgument(1) &&
         op->getOperand(1) == block.getArgument(0)))) {
    return std::nullopt;
  }
  using Kind = std::optional<LaneReduction>;
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case([](arith::AddIOp) { return LaneReduction::Add; })
      .Case([](arith::AndIOp) { return LaneReduction::And; })
      .Case([](arith::OrIOp) { return LaneReduction::Or; })
      .Case([](arith::XOrIOp) { return LaneReduction::Xor; })
      .Case([](arith::MaxSIOp) { return LaneReduction::Greatest; })
      .Case([](arith::MinSIOp) { return LaneReduction::Least; })
      .Case([](arith::MaxUIOp) { return LaneReduction::GreatestUnsigned; })
      .Case([](arith::MinUIOp) { return LaneReduction::LeastUnsigned; })
      .Default(Kind());
}

/// An i32 that orders as f32 do: NaN is `nan`, and -0 is 0.
static Value keyOfFloat(OpBuilder &b, Location loc, Value value, int32_t nan) {
  Type i32 = b.getI32Type();
  auto constant = [&](int32_t word) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(word));
  };
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value bits = arith::BitcastOp::create(
      b, loc, i32, arith::AddFOp::create(b, loc, value, zero));
  // Of negative numbers the greater magnitude is less.
  Value sign = arith::ShRSIOp::create(
      b, loc, bits, constant(i32.getIntOrFloatBitWidth() - 1));
  Value flips = arith::AndIOp::create(b, loc, sign, constant(INT32_MAX));
  Value key = arith::XOrIOp::create(b, loc, bits, flips);
  Value isNan =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, loc, isNan, constant(nan), key);
}

namespace {
/// The best of the pairs of all lanes.
class PairReduction {
public:
  PairReduction(OpBuilder &b, Location loc, Instructions &machine,
                tile::PairOrder order)
      : b(b), loc(loc), machine(machine), order(order) {}

  /// `key`: an i32 of each lane that orders as the values do; `word`: the
  /// value's bits. Returns those, and the index, of the best pair.
  std::pair<Value, Value> run(Value key, Value word, Value index) {
    Value isBest = equal(key, machine.reduceLanes(ofKeys(), key));
    Value least = machine.reduceLanes(LaneReduction::Least,
                                      select(isBest, index, INT32_MAX));
    Value holds = arith::AndIOp::create(b, loc, isBest, equal(index, least));
    return {machine.reduceLanes(LaneReduction::Or, select(holds, word, 0)),
            least};
  }
  bool isUnsigned() const {
    return order == tile::PairOrder::GreatestUnsigned ||
           order == tile::PairOrder::LeastUnsigned;
  }
  bool isGreatest() const {
    return order == tile::PairOrder::Greatest ||
           order == tile::PairOrder::GreatestUnsigned;
  }

private:
  LaneReduction ofKeys() const {
    if (isUnsigned()) {
      return isGreatest() ? LaneReduction::GreatestUnsigned
                          : LaneReduction::LeastUnsigned;
    }
    return isGreatest() ? LaneReduction::Greatest : LaneReduction::Least;
  }
  Value equal(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  }
  Value select(Value condition, Value value, int32_t other) {
    return arith::SelectOp::create(
        b, loc, condition, value,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(other)));
  }

  OpBuilder &b;
  Location loc;
  Instructions &machine;
  tile::PairOrder order;
};
} // namespace

bool KernelEmitter::reduceWarp(tile::ReduceOp op, Partial &partial) {
  if (!target.hasWarpReductions || partial.valid) {
    return false;
  }
  if (std::optional<LaneReduction> kind = laneReductionOf(op.getCombine())) {
    partial.values[0] = machine->reduceLanes(*kind, partial.values[0]);
    return true;
  }
  std::optional<tile::PairOrder> order = tile::pairOrderOf(op);
  Type element = tile::getElement(op.getSources()[0].getType());
  bool isOrdered = element.isF32() || element.isF16() || element.isBF16() ||
                   element.isInteger(32) || element.isInteger(16) ||
                   element.isInteger(8);
  if (!order || !isOrdered) {
    return false;
  }
  PairReduction best(b, loc, *machine, *order);
  Value value = partial.values[0];
  Type i32 = b.getI32Type();
  Value word = bitsOf(value);
  Type narrow = word.getType();
  if (narrow != i32) {
    word = arith::ExtUIOp::create(b, loc, i32, word);
  }
  Value key = word;
  if (isa<FloatType>(element)) {
    key = keyOfFloat(b, loc, ops().toF32(value, element),
                     best.isGreatest() ? INT32_MIN : INT32_MAX);
  } else if (narrow != i32 && !best.isUnsigned()) {
    key = arith::ExtSIOp::create(b, loc, i32, value);
  }
  auto [bestWord, index] = best.run(key, word, partial.values[1]);
  if (narrow != i32) {
    bestWord = arith::TruncIOp::create(b, loc, narrow, bestWord);
  }
  partial.values = {fromBits(bestWord, value.getType()), index};
  return true;
}

} // namespace nereid::togpu
