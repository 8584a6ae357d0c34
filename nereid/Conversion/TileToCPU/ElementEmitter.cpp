//===- ElementEmitter.cpp - Values of tensors at positions of a nest
//-----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/ElementEmitter.h"

#include "nereid/Conversion/TileToCPU/Forms.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::tocpu {

std::optional<bool> knownMask(Value mask) {
  APInt value;
  if (mask && matchPattern(mask, m_ConstantInt(&value))) {
    return value.isAllOnes();
  }
  return std::nullopt;
}

Value ElementEmitter::vectorOf(Lane lane) {
  if (lanes == 1 || isVector(lane.value)) {
    return lane.value;
  }
  return at(lane.level).splat(lane.value, lanes);
}

Lane ElementEmitter::combineMasks(Lane x, Lane y) {
  if (!x.value || knownMask(x.value) == true) {
    return y;
  }
  if (!y.value || knownMask(y.value) == true) {
    return x;
  }
  if (knownMask(x.value) == false || knownMask(y.value) == false) {
    return {at(0).integer(at(0).b.getI1Type(), 0), 0};
  }
  unsigned level = std::max(x.level, y.level);
  Value vx = x.value, vy = y.value;
  if (!x.isUniform() || !y.isUniform()) {
    vx = vectorOf(x);
    vy = vectorOf(y);
  }
  LaneOps ops = at(level);
  return {arith::AndIOp::create(ops.b, ops.loc, vx, vy), level};
}

Lane ElementEmitter::activeMask(Value mask, unsigned coords) {
  Lane result;
  if (mask) {
    result = evaluate(mask, coords);
    if (knownMask(result.value) == true) {
      result = Lane();
    }
  }
  if (laneMask) {
    result = combineMasks(result, {laneMask, innermost()});
  }
  return result;
}

Lane ElementEmitter::evaluate(Value tile, unsigned coords) {
  if (!isa<RankedTensorType>(tile.getType())) {
    return {kernel.scalar(tile), 0};
  }
  auto key = std::make_pair(tile, coords);
  auto found = memo.find(key);
  if (found != memo.end()) {
    return found->second;
  }
  Lane result = compute(tile, coords);
  memo[key] = result;
  return result;
}

/// The coordinates in a view's source of position `coords` of a result.
unsigned ElementEmitter::mapped(Operation *view, unsigned id, unsigned result) {
  Coords coords = coordSets[id];
  ArrayRef<int64_t> from = tile::getShape(view->getOperand(0).getType());
  Coords inner;
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(view)) {
    inner = coords;
    inner.erase(inner.begin() + expand.getAxis());
  } else if (isa<tile::BroadcastOp>(view)) {
    for (auto [coord, size] : llvm::zip(coords, from)) {
      inner.push_back(size == 1 ? Coord() : coord);
    }
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(view)) {
    inner.resize(coords.size());
    for (auto [i, source] : llvm::enumerate(transpose.getOrder())) {
      inner[source] = coords[i];
    }
  } else if (isa<tile::SplitOp>(view)) {
    inner = coords;
    Coord side;
    side.offset = result;
    inner.push_back(side);
  } else if (isa<tile::ReshapeOp>(view)) {
    inner =
        reshaped(coords, from, tile::getShape(view->getResult(0).getType()));
  } else {
    inner = coords; // tile.hint
  }
  return intern(inner);
}

Lane ElementEmitter::dense(DenseElementsAttr attr, RankedTensorType type,
                           unsigned coords) {
  LaneOps ops = at(0);
  if (attr.isSplat()) {
    return {ops.constant(cast<TypedAttr>(attr.getSplatValue<Attribute>())), 0};
  }
  // A table: compare with each linear position. Tables come from folding and
  // are short; a long one is written out in stackArray order once.
  Type element = laneType(type.getElementType());
  Type memory = element.isInteger(1) ? Type(ops.b.getI8Type()) : element;
  kernel.toTop();
  Value array = kernel.stackArray(memory, attr.getNumElements());
  LaneOps top = at(0);
  for (auto [i, value] : llvm::enumerate(attr.getValues<Attribute>())) {
    Value constant = top.constant(cast<TypedAttr>(value));
    if (element.isInteger(1)) {
      constant = arith::ExtUIOp::create(top.b, top.loc, memory, constant);
    }
    Value slot =
        LLVM::GEPOp::create(top.b, top.loc, array.getType(), memory, array,
                            LLVM::GEPArg(static_cast<int32_t>(i)));
    LLVM::StoreOp::create(top.b, top.loc, constant, slot);
  }
  Buffer buffer{
      array, type.getElementType(), SmallVector<int64_t>(type.getShape()), {}};
  int64_t stride = 1;
  buffer.strides.resize(type.getRank());
  for (int64_t d = type.getRank() - 1; d >= 0; --d) {
    buffer.strides[d] = stride;
    stride *= type.getDimSize(d);
  }
  return loadBuffer(buffer, coords);
}

Lane ElementEmitter::compute(Value tile, unsigned coords) {
  if (auto known = assumed.find({tile, coords}); known != assumed.end()) {
    LaneOps ops = at(0);
    return {ops.integer(ops.b.getI1Type(), known->second), 0};
  }
  if (const Buffer *buffer = kernel.buffer(tile)) {
    Lane lane = loadBuffer(*buffer, coords);
    lane.value = at(lane.level)
                     .convert(lane.value, buffer->element,
                              tile::getElement(tile.getType()), false);
    return lane;
  }
  Operation *op = tile.getDefiningOp();
  SourcePlace place(kernel, op);
  if (!op) {
    kernel.fail(tile.getParentBlock()->getParentOp(),
                "a block argument without a buffer");
    return {at(0).integer(at(0).b.getI32Type(), 0), 0};
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return dense(cast<DenseElementsAttr>(constant.getValue()),
                 cast<RankedTensorType>(tile.getType()), coords);
  }
  if (auto range = dyn_cast<tile::RangeOp>(op)) {
    Coord coord = coordSets[coords][0];
    LaneOps ops = at(coord.level);
    Coord start;
    start.offset = startOf(range);
    Coord moved = coord.vector ? coord : sum(coord, start);
    Value lanesValue = coordLanes(moved, ops.b.getI32Type());
    if (coord.vector && startOf(range) != 0) {
      ops = at(coord.level);
      lanesValue = ops.add(lanesValue,
                           ops.integer(lanesValue.getType(), startOf(range)));
    }
    return {lanesValue, coord.level};
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    return {kernel.scalar(splat.getSource()), 0};
  }
  if (isView(op)) {
    return evaluate(op->getOperand(0),
                    mapped(op, coords, cast<OpResult>(tile).getResultNumber()));
  }
  if (auto load = dyn_cast<tile::LoadAccess>(op)) {
    return this->load(load, coords);
  }
  if (const StructuredForm *form = structuredForm(op); form && form->evaluate) {
    return form->evaluate(*this, cast<OpResult>(tile), coords);
  }
  if (isa<tile::AddPtrOp, tile::PtrCastOp, tile::IntToPtrOp>(op)) {
    return address(pointer(tile, coords));
  }
  if (isa<tile::PtrToIntOp>(op)) {
    Lane pointer = address(this->pointer(op->getOperand(0), coords));
    if (!pointer.isUniform()) {
      return pointer;
    }
    LaneOps ops = at(pointer.level);
    return {LLVM::PtrToIntOp::create(ops.b, ops.loc, ops.b.getI64Type(),
                                     pointer.value),
            pointer.level};
  }
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op)) {
    Lane x = evaluate(op->getOperand(0), coords);
    Lane y = evaluate(op->getOperand(1), coords);
    unsigned level = std::max(x.level, y.level);
    unsigned result = cast<OpResult>(tile).getResultNumber();
    return {at(level).multiplyExtended(op, x.value, y.value, result), level};
  }
  if (!hasLaneForm(op)) {
    kernel.fail(op, "no CPU form of '" + op->getName().getStringRef() + "'");
    return {at(0).integer(at(0).b.getI32Type(), 0), 0};
  }
  if (isa<arith::AndIOp>(op) && tile::getElement(tile.getType()).isInteger(1)) {
    return combineMasks(evaluate(op->getOperand(0), coords),
                        evaluate(op->getOperand(1), coords));
  }
  SmallVector<Value, 3> operands;
  unsigned level = 0;
  for (Value operand : op->getOperands()) {
    Lane lane = evaluate(operand, coords);
    operands.push_back(lane.value);
    level = std::max(level, lane.level);
  }
  if (isa<arith::SelectOp>(op)) {
    if (std::optional<bool> known = knownMask(operands[0])) {
      return {*known ? operands[1] : operands[2], level};
    }
    // Pointers that differ a lane are integers in both arms.
    if (isVector(operands[0]) ||
        isVector(operands[1]) != isVector(operands[2])) {
      operands[1] = at(level).splat(operands[1], lanes);
      operands[2] = at(level).splat(operands[2], lanes);
    }
  }
  return {at(level).elementwise(op, operands), level};
}

} // namespace nereid::tocpu
