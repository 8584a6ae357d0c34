//===- Control.cpp - Blocks, loops and branches ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that crosses a region is as many values as it has live registers.
// Conditions are scalars, the same in all threads, so barriers inside regions
// are met by all or none.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/StructuredControl.h"
#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

// What an operation that failed would have given is asked for by the end of
// the loop or branch around it.
Registers &KernelEmitter::regs(Value tensor) {
  auto known = registersOf.find(tensor);
  if (known != registersOf.end()) {
    return known->second;
  }
  assert(hasFailed && "a tensor that was not emitted");
  const TileInfo &tile = info(tensor.getType());
  Value none = LLVM::PoisonOp::create(b, loc, laneType(tile.element));
  return registersOf[tensor] = Registers(tile.count(), none);
}

Value KernelEmitter::scalar(Value value) {
  auto known = scalars.find(value);
  if (known != scalars.end()) {
    return known->second;
  }
  assert(hasFailed && "a scalar that was not emitted");
  return LLVM::PoisonOp::create(b, loc,
                                laneType(tile::getElement(value.getType())));
}

/// Two elements of 16 bits go through loops and branches as one word: each
/// value that is carried takes a register of 32 bits.
static bool travelsInPairs(Type lane) {
  constexpr unsigned halfWord = 16;
  return bitsInMemory(lane) == halfWord;
}

/// Registers of a tile that hold elements, in order.
static SmallVector<unsigned> livingRegisters(const TileInfo &tile) {
  SmallVector<unsigned> living;
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (!tile.dead[r]) {
      living.push_back(r);
    }
  }
  return living;
}

SmallVector<Value> KernelEmitter::flat(ValueRange values) {
  SmallVector<Value> list;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType())) {
      list.push_back(scalar(value));
      continue;
    }
    const TileInfo &tile = info(value.getType());
    Registers living;
    for (unsigned r : livingRegisters(tile)) {
      living.push_back(regs(value)[r]);
    }
    unsigned paired =
        travelsInPairs(laneType(tile.element)) ? living.size() / 2 * 2 : 0;
    for (unsigned i = 0; i < paired; i += 2) {
      list.append(packWords(ArrayRef(living).slice(i, 2), 32));
    }
    list.append(living.begin() + paired, living.end());
  }
  return list;
}

SmallVector<Type> KernelEmitter::flatTypes(TypeRange types) {
  SmallVector<Type> list;
  for (Type type : types) {
    Type lane = laneType(tile::getElement(type));
    if (!isa<RankedTensorType>(type)) {
      list.push_back(lane);
      continue;
    }
    unsigned living = livingRegisters(info(type)).size();
    unsigned pairs = travelsInPairs(lane) ? living / 2 : 0;
    list.append(pairs, b.getI32Type());
    list.append(living - 2 * pairs, lane);
  }
  return list;
}

/// The inverse of `flat`.
void KernelEmitter::bindArguments(ValueRange from, ValueRange to) {
  auto next = to.begin();
  for (Value value : from) {
    if (!isa<RankedTensorType>(value.getType())) {
      scalars[value] = *next++;
      continue;
    }
    const TileInfo &tile = info(value.getType());
    Type lane = laneType(tile.element);
    SmallVector<unsigned> living = livingRegisters(tile);
    unsigned paired = travelsInPairs(lane) ? living.size() / 2 * 2 : 0;
    Registers registers(tile.count());
    for (unsigned i = 0; i < paired; i += 2) {
      Registers pair = unpackWords(*next, lane, 2);
      pairOf[pair[0]] = {pair[1], *next++};
      registers[living[i]] = pair[0];
      registers[living[i + 1]] = pair[1];
    }
    for (unsigned r : ArrayRef(living).drop_front(paired)) {
      registers[r] = *next++;
    }
    bind(value, std::move(registers));
  }
}

void KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (hasFailed) {
      return;
    }
    loc = op.getLoc();
    emitOp(&op);
  }
}

void KernelEmitter::emitFor(scf::ForOp loop) {
  SmallVector<Value> inits = flat(loop.getInitArgs());
  auto made = scf::ForOp::create(b, loc, scalar(loop.getLowerBound()),
                                 scalar(loop.getUpperBound()),
                                 scalar(loop.getStep()), inits);
  made.setUnsignedCmp(loop.getUnsignedCmp());
  if (Attribute exact = loop->getAttr(lanes::exactLoop)) {
    made->setAttr(lanes::exactLoop, exact);
  }
  Block *body = made.getBody();
  if (!body->empty()) {
    body->clear();
  }
  scalars[loop.getInductionVar()] = made.getInductionVar();
  b.setInsertionPointToEnd(body);
  bindArguments(loop.getRegionIterArgs(), made.getRegionIterArgs());
  emitBlock(*loop.getBody());
  scf::YieldOp::create(b, loc, flat(loop.getYieldedValues()));
  b.setInsertionPointAfter(made);
  bindArguments(loop.getResults(), made.getResults());
}

void KernelEmitter::emitIf(scf::IfOp branch) {
  bool hasElse = !branch.getElseRegion().empty();
  auto made = scf::IfOp::create(b, loc, flatTypes(branch.getResultTypes()),
                                scalar(branch.getCondition()),
                                /*addThenBlock=*/true, hasElse);
  auto emit = [&](Region &from, Region &to) {
    Block &block = to.front();
    block.clear();
    b.setInsertionPointToEnd(&block);
    emitBlock(from.front());
    scf::YieldOp::create(b, loc,
                         flat(from.front().getTerminator()->getOperands()));
  };
  emit(branch.getThenRegion(), made.getThenRegion());
  if (hasElse) {
    emit(branch.getElseRegion(), made.getElseRegion());
  }
  b.setInsertionPointAfter(made);
  bindArguments(branch.getResults(), made.getResults());
}

void KernelEmitter::emitWhile(scf::WhileOp loop) {
  auto made = scf::WhileOp::create(b, loc, flatTypes(loop.getResultTypes()),
                                   flat(loop.getInits()));
  auto emit = [&](Region &from, Region &to, auto terminate) {
    SmallVector<Type> types = flatTypes(from.getArgumentTypes());
    Block *block = b.createBlock(&to, to.end(), types,
                                 SmallVector<Location>(types.size(), loc));
    bindArguments(from.getArguments(), block->getArguments());
    b.setInsertionPointToEnd(block);
    emitBlock(from.front());
    terminate(from.front().getTerminator());
  };
  emit(loop.getBefore(), made.getBefore(), [&](Operation *op) {
    auto condition = cast<scf::ConditionOp>(op);
    scf::ConditionOp::create(b, loc, scalar(condition.getCondition()),
                             flat(condition.getArgs()));
  });
  emit(loop.getAfter(), made.getAfter(), [&](Operation *op) {
    scf::YieldOp::create(b, loc, flat(op->getOperands()));
  });
  b.setInsertionPointAfter(made);
  bindArguments(loop.getResults(), made.getResults());
}

static const LoweringTable &forms() {
  static const LoweringTable table = [] {
    LoweringTable table;
    addAtomicLowerings(table);
    addConversionLowerings(table);
    addCopyLowerings(table);
    addDebugLowerings(table);
    addDotLowerings(table);
    addHistogramLowerings(table);
    addMemoryLowerings(table);
    addPrefetchLowerings(table);
    addProgramLowerings(table);
    addReduceLowerings(table);
    addRoleLowerings(table);
    addScanLowerings(table);
    addShapeLowerings(table);
    addUserFunctionLowerings(table);
    return table;
  }();
  return table;
}

void KernelEmitter::emitOp(Operation *op) {
  auto places = op->getAttrOfType<tilegpu::ScratchAttr>(tilegpu::scratchAttr);
  if (places) {
    scratchPlaces = places;
    nextPiece = 0;
  }
  scratchOwner = op;
  if (LoweringTable::Lowering emit = forms().find(op)) {
    emit(*this, op);
  } else if (tile::isElementwise(op)) {
    emitElementwise(op);
  } else {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](arith::ConstantOp constant) { emitConstant(constant); })
        .Case([&](scf::ForOp loop) { emitFor(loop); })
        .Case([&](scf::IfOp branch) { emitIf(branch); })
        .Case([&](scf::WhileOp loop) { emitWhile(loop); })
        .Default([&](Operation *) {
          fail(op, "no form of '" + op->getName().getStringRef() + "'");
        });
  }
  if (places && nextPiece != places.getOffsets().size()) {
    fail(op, "more places in shared memory than it uses");
  }
}

} // namespace nereid::togpu
