//===- ScalarOps.cpp - Operations outside of nests ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/LaunchABI.h"
#include "nereid/Conversion/TileToCPU/ElementEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::tocpu {

/// Operands first, by a list of work: a chain is as long as the program.
Value LoopEmitter::scalar(Value tile) {
  auto found = scalars.find(tile);
  if (found != scalars.end()) {
    return found->second;
  }
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> work = {tile};
  while (!work.empty()) {
    Value next = work.back();
    if (scalars.count(next)) {
      work.pop_back();
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!op || !isPureScalar(op)) {
      fail(op ? op : next.getParentBlock()->getParentOp(),
           "a scalar is used before it is computed (" +
               (op ? op->getName().getStringRef() : StringRef("argument")) +
               ")");
      toTop();
      scalars[next] = ops().integer(b.getI32Type(), 0);
      continue;
    }
    size_t known = work.size();
    for (Value operand : llvm::reverse(op->getOperands())) {
      if (!scalars.count(operand)) {
        work.push_back(operand);
      }
    }
    if (work.size() == known) {
      toTop();
      Value value = pureScalar(op, cast<OpResult>(next).getResultNumber());
      scalars[next] = value;
      work.pop_back();
    }
  }
  return scalars[tile];
}

/// Constants go to the entry block; any nesting level may use them later.
Value LoopEmitter::constant(arith::ConstantOp op) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entryBlock);
  return ops().constant(op.getValue());
}

Value LoopEmitter::pureScalar(Operation *op, unsigned result) {
  SourcePlace place(*this, op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return this->constant(constant);
  }
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    return programId[id.getAxis()];
  }
  if (auto count = dyn_cast<tile::NumProgramsOp>(op)) {
    return grid[count.getAxis()];
  }
  if (isa<tile::ProcessorIdOp>(op)) {
    return ops().i32(0);
  }
  SmallVector<Value, 3> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(scalar(operand));
  }
  if (isa<tile::HintOp, tile::PtrCastOp>(op)) {
    return operands[0];
  }
  if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    auto pointee = cast<tile::PtrType>(add.getPtr().getType()).getPointee();
    Value offset = operands[1];
    if (offset.getType().getIntOrFloatBitWidth() < 64) {
      offset = arith::ExtSIOp::create(b, loc, b.getI64Type(), offset);
    }
    return LLVM::GEPOp::create(
        b, loc, operands[0].getType(),
        b.getIntegerType(8 * tile::getElementBytes(pointee)), operands[0],
        ValueRange{offset});
  }
  Type ptrType = LLVM::LLVMPointerType::get(b.getContext());
  if (isa<tile::IntToPtrOp>(op)) {
    return LLVM::IntToPtrOp::create(b, loc, ptrType, operands[0]);
  }
  if (isa<tile::PtrToIntOp>(op)) {
    return LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), operands[0]);
  }
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op)) {
    return ops().multiplyExtended(op, operands[0], operands[1], result);
  }
  if (hasLaneForm(op)) {
    return ops().elementwise(op, operands);
  }
  fail(op, "no CPU form of '" + op->getName().getStringRef() + "'");
  return ops().integer(b.getI32Type(), 0);
}

void LoopEmitter::emitOp(Step &step) {
  Operation *op = step.op;
  SourcePlace place(*this, op);
  if (op->getNumRegions() != 0) {
    emitCaptured(op);
    toTop();
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) { emitFor(loop, step); })
      .Case([&](scf::IfOp branch) { emitIf(branch); })
      .Case([&](scf::WhileOp loop) { emitWhile(loop, step); })
      .Case([&](tile::DotOp dot) { emitDot(dot); })
      .Case([&](tile::PrintOp print) { emitPrint(print); })
      .Case([&](tile::SplitOp split) { emitSplit(split); })
      .Case<tile::MemoryAccess>(
          [&](Operation *access) { emitScalarAccess(access); })
      .Case<tile::AssertOp, tile::CheckBoundsOp, tile::CheckNanOp>(
          [&](Operation *check) { emitScalarService(check); })
      .Case([&](tile::RelaxOp) {
        callService(offsetof(HostServices, wait), nullptr, {});
      })
      .Case([&](tile::GlobalTimerOp timer) {
        scalars[timer] =
            LLVM::CallIntrinsicOp::create(
                b, loc, b.getI64Type(),
                b.getStringAttr("llvm.readcyclecounter"), ValueRange{})
                .getResult(0);
      })
      // A launch starts when the one before it has ended.
      .Case([](tile::GridDependencyOp) {})
      .Case([&](tile::BarrierOp) {
        LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acq_rel, "");
      })
      .Default([&](Operation *other) {
        fail(other, "no CPU form of '" + other->getName().getStringRef() + "'");
      });
}

/// A scalar is a tensor of one lane that no loop goes over.
void LoopEmitter::emitScalarAccess(Operation *op) {
  ElementEmitter evaluator(*this, 1);
  evaluator.setAnchor(0, top);
  unsigned none = evaluator.intern(Coords());
  if (auto load = dyn_cast<tile::LoadAccess>(op)) {
    scalars[load.getResult()] = evaluator.load(load, none).value;
    return;
  }
  if (auto store = dyn_cast<tile::StoreAccess>(op)) {
    Lane mask = evaluator.activeMask(store.getMask(), none);
    Value value = scalar(store.getValue());
    evaluator.store(evaluator.pointer(store.getPtr(), none), value.getType(),
                    value, mask, false);
    return;
  }
  auto access = cast<tile::MemoryAccess>(op);
  Value mask = access.getMask(), compare;
  if (auto cas = dyn_cast<tile::AtomicCASOp>(op)) {
    compare = scalar(cas.getCompare());
  }
  Value address = scalar(access.getPtr()), operand = scalar(access.getValue());
  toTop();
  if (!mask) {
    scalars[op->getResult(0)] = atomicElement(op, address, operand, compare);
    return;
  }
  Type type = operand.getType();
  Value on = scalar(mask);
  toTop();
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, on, true);
  b.setInsertionPointToEnd(branch.thenBlock());
  Value old = atomicElement(op, address, operand, compare);
  scf::YieldOp::create(b, loc, old);
  b.setInsertionPointToEnd(branch.elseBlock());
  Value zero =
      isa<FloatType>(type) ? ops().real(type, 0) : ops().integer(type, 0);
  scf::YieldOp::create(b, loc, zero);
  b.setInsertionPointAfter(branch);
  scalars[op->getResult(0)] = branch.getResult(0);
}

/// Both elements of a tensor of two.
void LoopEmitter::emitSplit(tile::SplitOp op) {
  ElementEmitter evaluator(*this, 1);
  evaluator.setAnchor(0, top);
  for (unsigned side = 0; side < 2; ++side) {
    Coord coord;
    coord.offset = side;
    scalars[op->getResult(side)] =
        evaluator.evaluate(op.getSource(), evaluator.intern(Coords{coord}))
            .value;
  }
}

//===----------------------------------------------------------------------===//
// Services
//===----------------------------------------------------------------------===//

Value LoopEmitter::callService(unsigned offset, Operation *op,
                               ArrayRef<Value> arguments, Type result) {
  SmallVector<Value> operands = {
      LLVM::LoadOp::create(b, loc, frame.getType(),
                           ops().byteOffset(services, offset)),
      frame};
  if (op) {
    auto site = op->getAttrOfType<IntegerAttr>("tile.site");
    operands.push_back(ops().i32(site ? site.getInt() : 0));
  }
  operands.append(arguments.begin(), arguments.end());
  SmallVector<Type> types;
  for (Value operand : ArrayRef(operands).drop_front()) {
    types.push_back(operand.getType());
  }
  Type returned = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto call = LLVM::CallOp::create(
      b, loc, LLVM::LLVMFunctionType::get(returned, types), operands);
  return result ? call.getResult() : Value();
}

void LoopEmitter::emitPrint(tile::PrintOp op) {
  LaneOps ops = this->ops();
  Type ptrType = frame.getType();
  if (!op.getValue()) {
    Value null = LLVM::ZeroOp::create(b, loc, ptrType);
    callService(offsetof(HostServices, print), op, {null, ops.i64(0)});
    return;
  }
  if (const Buffer *buffer = this->buffer(op.getValue())) {
    // The runtime reads the elements row by row: copy what is a view.
    Buffer rows = allocate(buffer->element, buffer->shape);
    toTop();
    copyInto(op.getValue(), rows);
    toTop();
    int64_t count = 1;
    for (int64_t size : rows.shape) {
      count *= size;
    }
    callService(offsetof(HostServices, print), op, {rows.base, ops.i64(count)});
    release(rows);
    return;
  }
  Value value = scalar(op.getValue());
  toTop();
  if (value.getType().isInteger(1)) {
    value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  }
  Value slot = stackArray(value.getType(), 1);
  LLVM::StoreOp::create(b, loc, value, slot);
  callService(offsetof(HostServices, print), op, {slot, ops.i64(1)});
}

void LoopEmitter::emitScalarService(Operation *op) {
  LaneOps ops = this->ops();
  Value first = scalar(op->getOperand(0));
  Value mask = op->getNumOperands() > 1 ? scalar(op->getOperand(1)) : Value();
  toTop();
  Value on = mask ? mask : ops.integer(b.getI1Type(), 1);
  auto guard = scf::IfOp::create(b, loc, on, false);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(guard.thenBlock()->getTerminator());
  checkElement(op, first, ops.i64(0));
}

/// Calls `fail` if the element that `op` checks is wrong.
void LoopEmitter::checkElement(Operation *op, Value element, Value index) {
  LaneOps ops = this->ops();
  Value bad, detail = ops.i64(0);
  Type tileElement = tile::getElement(op->getOperand(0).getType());
  if (isa<tile::AssertOp>(op)) {
    bad = arith::XOrIOp::create(b, loc, element, ops.integer(b.getI1Type(), 1));
  } else if (isa<tile::CheckNanOp>(op)) {
    Value wide =
        tileElement.isF64() ? element : ops.toF32(element, tileElement);
    bad = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, wide, wide);
  } else {
    detail =
        isa<LLVM::LLVMPointerType>(element.getType())
            ? Value(LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), element))
            : element;
    int64_t bytes =
        tile::getElementBytes(cast<tile::PtrType>(tileElement).getPointee());
    Value inside = callService(offsetof(HostServices, inBounds), nullptr,
                               {detail, ops.i32(bytes)}, b.getI8Type());
    bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, inside,
                                ops.integer(b.getI8Type(), 0));
  }
  auto branch = scf::IfOp::create(b, loc, bad, false);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  callService(offsetof(HostServices, fail), op, {index, detail});
}

Value LoopEmitter::stackArray(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entryBlock);
  return LLVM::AllocaOp::create(b, loc, frame.getType(), element,
                                ops().i64(count), 64);
}

} // namespace nereid::tocpu
