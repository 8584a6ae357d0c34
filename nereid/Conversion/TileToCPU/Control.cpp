//===- Control.cpp - Blocks, loops and branches ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalars that a loop carries stay SSA values; a tensor that it carries is a
// buffer, which the body updates in place where nothing reads the old content
// afterwards.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/StructuredControl.h"
#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

scf::ForOp LoopEmitter::createFor(Value lower, Value upper, Value step,
                                  ValueRange carried) {
  auto loop = scf::ForOp::create(b, loc, lower, upper, step, carried);
  if (!loop.getBody()->empty()) {
    loop.getBody()->back().erase();
  }
  b.setInsertionPointToEnd(loop.getBody());
  return loop;
}

void LoopEmitter::yield(ValueRange values) {
  Operation *loop = b.getInsertionBlock()->getParentOp();
  scf::YieldOp::create(b, loc, values);
  b.setInsertionPointAfter(loop);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffer LoopEmitter::allocate(Type element, ArrayRef<int64_t> shape,
                             int64_t innerPadding) {
  Buffer buffer;
  buffer.element = element;
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    buffer.strides[d] = stride;
    stride *= d + 1 == shape.size()
                  ? (shape[d] + innerPadding - 1) / innerPadding * innerPadding
                  : shape[d];
  }
  buffer.scratchOffset =
      scratch.allocate(stride * tile::getElementBytes(element));
  OpBuilder::InsertionGuard guard(b);
  toTop();
  buffer.base = LLVM::GEPOp::create(
      b, loc, scratchBase.getType(), b.getI8Type(), scratchBase,
      ValueRange{ops().i64(buffer.scratchOffset)});
  return buffer;
}

void LoopEmitter::release(const Buffer &buffer) {
  if (buffer.scratchOffset != ~0ull) {
    scratch.release(buffer.scratchOffset);
  }
}

const Buffer *LoopEmitter::buffer(Value tile) {
  auto found = buffers.find(tile);
  return found == buffers.end() ? nullptr : &found->second;
}

Buffer LoopEmitter::resultBuffer(Value value) {
  auto found = pending.find(value);
  if (found != pending.end()) {
    return found->second;
  }
  Buffer buffer;
  int target =
      blocks.back().plan ? blocks.back().plan->directTarget(value) : -1;
  if (target >= 0) {
    buffer = blocks.back().targets[target];
    buffer.scratchOffset = ~0ull; // belongs to the loop or branch
  } else {
    auto type = cast<RankedTensorType>(value.getType());
    buffer = allocate(type.getElementType(), type.getShape());
  }
  return pending[value] = buffer;
}

void LoopEmitter::bindResult(Value value) {
  buffers[value] = pending.lookup(value);
  pending.erase(value);
}

Buffer LoopEmitter::yieldBuffer(unsigned index, bool throughCopy) {
  BlockState &state = blocks.back();
  if (!throughCopy) {
    return state.targets[index];
  }
  Buffer copy =
      allocate(state.targets[index].element, state.targets[index].shape);
  state.copies.push_back({index, copy});
  return copy;
}

void LoopEmitter::copyInto(Value value, const Buffer &buffer, bool isUnsigned,
                           bool flipsSign) {
  Step step;
  step.isNest = true;
  step.shape.assign(tile::getShape(value.getType()));
  step.sinks.push_back({SinkKind::Yield, nullptr, value, 0});
  step.sinks.back().isUnsigned = isUnsigned;
  step.sinks.back().flipsSign = flipsSign;
  blocks.push_back({nullptr, {buffer}, {}});
  Nest(*this, step).emit();
  blocks.pop_back();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void LoopEmitter::emitBlock(Block *block, ArrayRef<YieldTarget> yields,
                            ArrayRef<Buffer> targets) {
  Plan plan(block, yields, regions);
  blocks.push_back({&plan, SmallVector<Buffer>(targets), {}});
  for (Step &step : plan.steps()) {
    if (failure) {
      break;
    }
    if (step.isNest) {
      Nest(*this, step).emit();
    } else {
      toTop();
      emitOp(step);
    }
    for (Value value : step.dead) {
      auto found = buffers.find(value);
      if (found != buffers.end()) {
        release(found->second);
      }
    }
  }
  BlockState state = std::move(blocks.back());
  blocks.pop_back();
  for (auto &[index, copy] : state.copies) {
    // The yielded value lies in `copy` under the name of the operand.
    Value value = yields[index].value;
    std::optional<Buffer> hidden;
    if (const Buffer *old = buffer(value)) {
      hidden = *old;
    }
    buffers[value] = copy;
    copyInto(value, targets[index]);
    if (hidden) {
      buffers[value] = *hidden;
    } else {
      buffers.erase(value);
    }
    release(copy);
  }
}

/// Emits the scalars of this block that `op` reads inside of its regions:
/// there, they would not dominate later uses.
void LoopEmitter::emitCaptured(Operation *op) {
  llvm::SmallPtrSet<void *, 32> seen;
  SmallVector<Value> work;
  auto add = [&](Value value) {
    if (seen.insert(value.getAsOpaquePointer()).second) {
      work.push_back(value);
    }
  };
  llvm::for_each(regions.captured(op), add);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!isTensor(value)) {
      scalar(value);
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (def && !buffer(value) && def->getNumRegions() == 0) {
      for (Value operand : def->getOperands()) {
        add(operand);
      }
    }
  }
}

/// Emits `from` at the end of `to`, with `arguments` for the scalars among its
/// block arguments (tensors are bound by the caller). Returns the scalars among
/// the operands that its terminator yields; the tensors go to `targets`.
SmallVector<Value> LoopEmitter::emitBody(Block *from, Block *to,
                                         OperandRange yielded,
                                         ValueRange arguments,
                                         ArrayRef<Buffer> targets) {
  OpBuilder::InsertPoint outside = top;
  setTop({to, to->end()});
  SmallVector<YieldTarget> yields;
  SmallVector<Buffer> sinks;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    if (isTensor(value)) {
      YieldTarget target;
      target.value = value;
      // A block argument in the very buffer that is written.
      for (BlockArgument argument : from->getArguments()) {
        const Buffer *old = isTensor(argument) ? buffer(argument) : nullptr;
        if (old && old->base == targets[i].base) {
          target.argument = argument;
        }
      }
      yields.push_back(target);
      sinks.push_back(targets[i]);
    }
  }
  emitBlock(from, yields, sinks);
  SmallVector<Value> scalarsOut;
  toTop();
  for (Value value : yielded) {
    if (!isTensor(value)) {
      scalarsOut.push_back(scalar(value));
    }
  }
  setTop(outside);
  b.setInsertionPointToEnd(to);
  return scalarsOut;
}

/// The buffer of a tensor that a loop carries, holding `init`.
Buffer LoopEmitter::carriedBuffer(Value init, Value result, Step &step) {
  int target = blocks.back().plan->directTarget(result);
  const Buffer *source = buffer(init);
  if (target < 0 && source && source->scratchOffset != ~0ull &&
      llvm::is_contained(step.handedOver, init)) {
    // Nothing reads the initial tensor afterwards: its buffer is taken over.
    Buffer buffer = *source;
    buffers[init].scratchOffset = ~0ull;
    return buffer;
  }
  Buffer buffer = resultBuffer(result);
  pending.erase(result);
  if (!source || source->base != buffer.base) {
    copyInto(init, buffer);
  }
  return buffer;
}

void LoopEmitter::emitFor(scf::ForOp loop, Step &step) {
  SmallVector<Value> inits;
  SmallVector<Buffer> targets;
  for (auto [init, result] : llvm::zip(loop.getInitArgs(), loop.getResults())) {
    if (!isTensor(init)) {
      inits.push_back(scalar(init));
      targets.push_back({});
      continue;
    }
    targets.push_back(carriedBuffer(init, result, step));
  }
  Value lower = scalar(loop.getLowerBound()),
        upper = scalar(loop.getUpperBound());
  Value increment = scalar(loop.getStep());
  toTop();
  scf::ForOp copy = createFor(lower, upper, increment, inits);
  copy->setAttr(exactLoop, b.getUnitAttr());
  copy.setUnsignedCmp(loop.getUnsignedCmp());
  sources[copy] = loop;
  scalars[loop.getInductionVar()] = copy.getInductionVar();
  unsigned next = 0;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (isTensor(argument)) {
      Buffer borrowed = targets[i];
      borrowed.scratchOffset = ~0ull;
      buffers[argument] = borrowed;
    } else {
      scalars[argument] = copy.getRegionIterArgs()[next++];
    }
  }
  SmallVector<Value> yielded =
      emitBody(loop.getBody(), copy.getBody(),
               loop.getBody()->getTerminator()->getOperands(), {}, targets);
  yield(yielded);
  next = 0;
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    if (isTensor(result)) {
      buffers[result] = targets[i];
    } else {
      scalars[result] = copy.getResult(next++);
    }
  }
}

void LoopEmitter::emitIf(scf::IfOp branch) {
  SmallVector<Type> types;
  SmallVector<Buffer> targets;
  for (Value result : branch.getResults()) {
    if (isTensor(result)) {
      targets.push_back(resultBuffer(result));
    } else {
      types.push_back(laneType(result.getType()));
      targets.push_back({});
    }
  }
  Value condition = scalar(branch.getCondition());
  toTop();
  bool hasElse = !branch.getElseRegion().empty();
  auto copy = scf::IfOp::create(b, loc, types, condition, hasElse);
  for (unsigned r = 0; r < 1u + hasElse; ++r) {
    Block *from = &branch->getRegion(r).front(),
          *to = &copy->getRegion(r).front();
    if (!to->empty()) {
      to->back().erase();
    }
    SmallVector<Value> yielded =
        emitBody(from, to, from->getTerminator()->getOperands(), {}, targets);
    scf::YieldOp::create(b, loc, yielded);
  }
  b.setInsertionPointAfter(copy);
  unsigned next = 0;
  for (Value result : branch.getResults()) {
    if (isTensor(result)) {
      bindResult(result);
    } else {
      scalars[result] = copy.getResult(next++);
    }
  }
}

void LoopEmitter::emitUnless(Value condition, function_ref<void()> body) {
  toTop();
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  Block *block = branch.elseBlock();
  if (!block->empty()) {
    block->back().erase();
  }
  // Scalars that are asked for there are not known after it.
  DenseMap<Value, Value> known = scalars;
  setTop({block, block->end()});
  toTop();
  body();
  toTop();
  scf::YieldOp::create(b, loc);
  scalars = std::move(known);
  setTop({branch->getBlock(), branch->getBlock()->end()});
  toTop();
}

/// The tensors that the condition sees are one set of buffers, those that the
/// body and what follows see are another.
void LoopEmitter::emitWhile(scf::WhileOp loop, Step &step) {
  SmallVector<Value> inits;
  SmallVector<Type> types;
  SmallVector<Buffer> beforeBuffers, afterBuffers;
  for (Value init : loop.getInits()) {
    if (isTensor(init)) {
      auto type = cast<RankedTensorType>(init.getType());
      beforeBuffers.push_back(allocate(type.getElementType(), type.getShape()));
      copyInto(init, beforeBuffers.back());
    } else {
      inits.push_back(scalar(init));
      beforeBuffers.push_back({});
    }
  }
  for (Value result : loop.getResults()) {
    if (isTensor(result)) {
      afterBuffers.push_back(resultBuffer(result));
    } else {
      types.push_back(laneType(result.getType()));
      afterBuffers.push_back({});
    }
  }
  toTop();
  auto copy = scf::WhileOp::create(b, loc, types, inits);
  auto bindArguments = [&](Block *from, Block *to, ArrayRef<Buffer> tensors) {
    unsigned next = 0;
    for (auto [i, argument] : llvm::enumerate(from->getArguments())) {
      if (isTensor(argument)) {
        buffers[argument] = tensors[i];
        buffers[argument].scratchOffset = ~0ull;
      } else {
        scalars[argument] = to->getArgument(next++);
      }
    }
  };
  SmallVector<Type> beforeTypes;
  for (Value init : inits) {
    beforeTypes.push_back(init.getType());
  }
  Block *before = b.createBlock(&copy.getBefore(), {}, beforeTypes,
                                SmallVector<Location>(beforeTypes.size(), loc));
  Block *after = b.createBlock(&copy.getAfter(), {}, types,
                               SmallVector<Location>(types.size(), loc));
  bindArguments(loop.getBeforeBody(), before, beforeBuffers);
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> passed = emitBody(loop.getBeforeBody(), before,
                                       condition.getArgs(), {}, afterBuffers);
  Value proceed;
  {
    OpBuilder::InsertPoint outside = top;
    setTop({before, before->end()});
    toTop();
    proceed = scalar(condition.getCondition());
    setTop(outside);
    b.setInsertionPointToEnd(before);
  }
  scf::ConditionOp::create(b, loc, proceed, passed);
  bindArguments(loop.getAfterBody(), after, afterBuffers);
  SmallVector<Value> yielded = emitBody(
      loop.getAfterBody(), after,
      loop.getAfterBody()->getTerminator()->getOperands(), {}, beforeBuffers);
  scf::YieldOp::create(b, loc, yielded);
  b.setInsertionPointAfter(copy);
  unsigned next = 0;
  for (Value result : loop.getResults()) {
    if (isTensor(result)) {
      bindResult(result);
    } else {
      scalars[result] = copy.getResult(next++);
    }
  }
  for (const Buffer &buffer : beforeBuffers) {
    if (buffer.base) {
      release(buffer);
    }
  }
}

} // namespace nereid::tocpu
