//===- Memory.cpp - Loads and stores of lanes -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From fast to slow: one scalar for all lanes; a run of neighbours; a window of
// known shape, loaded and shuffled; a gather; a loop over the lanes. The last
// also serves what the target has no instruction for, because LLVM's expansion
// of masked intrinsics is a branch a lane, laid out one after the other.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/AccessReasons.h"
#include "nereid/Conversion/TileToCPU/ElementEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tocpu {

/// What lies in memory for a Tile element type, one of several lanes.
static Type memoryType(Type element, bool vector) {
  Type type = laneType(element);
  MLIRContext *context = element.getContext();
  if (type.isInteger(1)) {
    return IntegerType::get(context, 8);
  }
  if (vector && isa<LLVM::LLVMPointerType>(type)) {
    return IntegerType::get(context, 64);
  }
  return type;
}

bool ElementEmitter::hasMaskedRun(Type type) const {
  return kernel.target.hasMaskRegisters ||
         (kernel.target.hasMaskedMemory && bytesOf(type) >= 4);
}

bool ElementEmitter::hasGather(Type type) const {
  return kernel.target.hasGather && bytesOf(type) >= 4;
}

/// The bytes of a boolean buffer are 0 or 1.
Lane ElementEmitter::fromMemory(Lane lane, Type element) {
  if (!element.isInteger(1)) {
    return lane;
  }
  LaneOps ops = at(lane.level);
  Value zero = ops.integer(lane.value.getType(), 0);
  return {arith::CmpIOp::create(ops.b, ops.loc, arith::CmpIPredicate::ne,
                                lane.value, zero),
          lane.level};
}

Value ElementEmitter::toMemory(Value value, unsigned level) {
  if (!getElementTypeOrSelf(value.getType()).isInteger(1)) {
    return value;
  }
  LaneOps ops = at(level);
  return arith::ExtUIOp::create(ops.b, ops.loc,
                                typeLike(ops.b.getI8Type(), value), value);
}

/// `other`, or zero, as a vector (a scalar if lanes is 1).
Value ElementEmitter::otherVector(Type type, Lane other, unsigned level) {
  if (other.value) {
    return vectorOf(other);
  }
  LaneOps ops = at(level);
  Type full = lanes == 1 ? type : VectorType::get({lanes}, type);
  if (isa<LLVM::LLVMPointerType>(type)) {
    return LLVM::ZeroOp::create(ops.b, ops.loc, type);
  }
  return isa<FloatType>(type) ? ops.real(full, 0) : ops.integer(full, 0);
}

Lane ElementEmitter::load(tile::LoadAccess op, unsigned coords) {
  LanePointer from = pointer(op.getPtr(), coords);
  Lane mask, other;
  if (op.getMask()) {
    mask = evaluate(op.getMask(), coords);
    APInt known;
    if (matchPattern(mask.value, m_ConstantInt(&known)) && known.isAllOnes()) {
      mask = Lane();
      // What the bounds of the innermost loop ensure holds nowhere else: this
      // load must not move out of it.
      from.minLevel = innermost();
    }
  }
  if (op.getOther() && mask.value) {
    other = evaluate(op.getOther(), coords);
  }
  Type element = tile::getElement(op.getResult().getType());
  if (knownMask(mask.value) == false && !isProbe &&
      !isa<LLVM::LLVMPointerType>(laneType(element))) {
    if (other.value) {
      return other;
    }
    LaneOps ops = at(0);
    Type type = memoryType(element, /*vector=*/false);
    return {isa<FloatType>(type) ? ops.real(type, 0) : ops.integer(type, 0), 0};
  }
  reportLoad(op, from, mask.value || laneMask);
  return loadFrom(from, element, mask, other);
}

void ElementEmitter::reportLoad(tile::LoadAccess op, const LanePointer &from,
                                bool isMasked) {
  if (!tellsDecisions(op.getContext()) || lanes == 1) {
    return;
  }
  Type type =
      memoryType(tile::getElement(op.getResult().getType()), /*vector=*/true);
  Decision d{"load", "", "", "", ""};
  auto slow = [&](const char *how) {
    d.chosen = how;
    d.rejected = "a vector of neighbours";
    std::tie(d.reason, d.hint) = whyNoRuns(op.getPtr());
  };
  switch (formOf(from, type, isMasked)) {
  case LoadForm::Uniform:
    d.chosen = "one element for all lanes of a vector";
    break;
  case LoadForm::Run:
    d.chosen = "a vector of neighbours";
    break;
  case LoadForm::Reversed:
    d.chosen = "a vector of neighbours, reversed";
    break;
  case LoadForm::Window:
    d.chosen = "all between the first lane and the last, then a shuffle";
    d.rejected = "a vector of neighbours";
    d.reason = "the lanes lie a small constant distance apart";
    break;
  case LoadForm::Wrapped:
    d.chosen = "a vector of neighbours where 'x % n' does not wrap in it, else "
               "a gather";
    d.rejected = "a vector of neighbours always";
    d.reason = "whether it wraps is asked at run time";
    break;
  case LoadForm::Gather:
    slow("a gather, each lane from its own address");
    break;
  case LoadForm::Lanes:
    slow("one element after the other");
    d.reason += "; this processor has no gather for them";
    break;
  }
  recordDecision(op.getLoc(), d);
}

ElementEmitter::LoadForm ElementEmitter::formOf(const LanePointer &from,
                                                Type type, bool isMasked) {
  if (from.index.isUniform()) {
    return LoadForm::Uniform;
  }
  if (int way = direction(from, bytesOf(type))) {
    return way < 0 ? LoadForm::Reversed : LoadForm::Run;
  }
  if (!isMasked && from.index.pattern && !from.index.coefficient &&
      from.bytes == bytesOf(type)) {
    auto [low, high] = std::minmax_element(from.index.pattern->begin(),
                                           from.index.pattern->end());
    if (*high - *low < 4 * static_cast<int64_t>(lanes)) {
      return LoadForm::Window;
    }
  }
  if (from.index.unwrapped) {
    return LoadForm::Wrapped;
  }
  return hasGather(type) && from.base ? LoadForm::Gather : LoadForm::Lanes;
}

Lane ElementEmitter::loadFrom(const LanePointer &from, Type element, Lane mask,
                              Lane other) {
  Type type = memoryType(element, lanes > 1);
  if (from.index.isUniform()) {
    if (mask.value && !mask.isUniform()) {
      // One address, a mask a lane: read it if any lane is on.
      LaneOps ops = at(mask.level);
      Lane any = {vector::ReductionOp::create(
                      ops.b, ops.loc, vector::CombiningKind::OR, mask.value),
                  mask.level};
      Lane one = loadUniform(from, memoryType(element, false), any, Lane());
      unsigned level = std::max({one.level, mask.level, other.level});
      Value all = vectorOf(one), rest = otherVector(type, other, level);
      LaneOps select = at(level);
      return {
          arith::SelectOp::create(select.b, select.loc, mask.value, all, rest),
          level};
    }
    if (other.value && !other.isUniform()) { // a scalar mask, a vector other
      mask.value = vectorOf(mask);
      return loadGather(from, type, mask, other);
    }
    return loadUniform(from, memoryType(element, false), mask, other);
  }
  if (isProbe) { // what differs from lane to lane bounds no loop
    return {otherVector(type, Lane(), innermost()), innermost()};
  }
  if (laneMask) {
    mask = combineMasks(mask, {laneMask, innermost()});
  }
  LoadForm form = formOf(from, type, static_cast<bool>(mask.value));
  switch (form) {
  case LoadForm::Run:
  case LoadForm::Reversed: {
    unsigned level;
    Lane address;
    address.value = scalarAddress(from, &level);
    address.level = std::max(level, from.minLevel);
    return loadRun(address, type, mask, other, form == LoadForm::Reversed);
  }
  case LoadForm::Window:
    return loadWindow(from, type);
  case LoadForm::Wrapped:
    return loadWrapped(from, type, mask, other);
  default:
    return loadGather(from, type, mask, other);
  }
}

Lane ElementEmitter::loadUniform(const LanePointer &from, Type type, Lane mask,
                                 Lane other) {
  unsigned level;
  Value address = scalarAddress(from, &level);
  level = std::max({level, mask.level, other.level, from.minLevel});
  if (!mask.value) {
    LaneOps ops = at(level);
    return {LLVM::LoadOp::create(ops.b, ops.loc, type, address, bytesOf(type)),
            level};
  }
  LaneOps ops = at(level);
  Value rest = other.value;
  if (!rest) {
    rest = isa<LLVM::LLVMPointerType>(type)
               ? Value(LLVM::ZeroOp::create(ops.b, ops.loc, type))
           : isa<FloatType>(type) ? ops.real(type, 0)
                                  : ops.integer(type, 0);
  }
  auto branch =
      scf::IfOp::create(ops.b, ops.loc, TypeRange{type}, mask.value, true);
  OpBuilder then = branch.getThenBodyBuilder();
  Value loaded =
      LLVM::LoadOp::create(then, ops.loc, type, address, bytesOf(type));
  scf::YieldOp::create(then, ops.loc, loaded);
  OpBuilder otherwise = branch.getElseBodyBuilder();
  scf::YieldOp::create(otherwise, ops.loc, rest);
  return {branch.getResult(0), level};
}

/// `mask`, without a lane that LLVM knows. A vector of several registers has
/// parts whose mask is a constant where that of the whole is not (`i < n` and
/// `row < 1` over rows of one register). Of such a part LLVM 22 (X86's
/// combineMaskedLoadConstantMask, without AVX-512 only) takes the first and the
/// last lane to be on if they are not zero; but it has reduced the constant to
/// its sign bits before, the others are arbitrary. It then reads the whole part
/// without any mask. A comparison with a number that only the running program
/// knows costs an instruction a register and stays one.
Value ElementEmitter::opaqueMask(Value mask, Type type, unsigned level) {
  LaneOps ops = at(level);
  Type element = ops.b.getIntegerType(8 * bytesOf(type));
  Value zero = kernel.opaqueZero;
  if (element != zero.getType()) {
    zero = arith::TruncIOp::create(ops.b, ops.loc, element, zero);
  }
  Value signs =
      arith::ExtSIOp::create(ops.b, ops.loc, typeLike(element, mask), mask);
  return arith::CmpIOp::create(ops.b, ops.loc, arith::CmpIPredicate::slt, signs,
                               ops.splat(zero, lanes));
}

/// `load`, a vector with `rest` where `on`, the lanes of `mask`, is off; under
/// a branch if whole vectors may be off.
Lane ElementEmitter::skippedIfDead(
    Lane mask, Value on, Value rest, unsigned level,
    llvm::function_ref<Value(OpBuilder &)> load) {
  LaneOps ops = at(level);
  if (!skipsDead || !mask.value || knownMask(mask.value)) {
    return {load(ops.b), level};
  }
  Value any = mask.isUniform()
                  ? mask.value
                  : Value(vector::ReductionOp::create(
                        ops.b, ops.loc, vector::CombiningKind::OR, on));
  auto branch =
      scf::IfOp::create(ops.b, ops.loc, TypeRange{rest.getType()}, any, true);
  OpBuilder then = branch.getThenBodyBuilder();
  Value loaded = load(then);
  scf::YieldOp::create(then, ops.loc, loaded);
  OpBuilder otherwise = branch.getElseBodyBuilder();
  scf::YieldOp::create(otherwise, ops.loc, rest);
  return {branch.getResult(0), level};
}

Lane ElementEmitter::loadRun(Lane address, Type type, Lane mask, Lane other,
                             bool reversed) {
  auto vectorType = VectorType::get({lanes}, type);
  int64_t bytes = bytesOf(type);
  SmallVector<int64_t> order;
  for (unsigned i = 0; i < lanes; ++i) {
    order.push_back(lanes - 1 - i);
  }
  unsigned level = std::max({address.level, mask.level, other.level});
  Value first = address.value;
  if (mask.value && !hasMaskedRun(type)) {
    return loadMaskedRun(address, type, mask, other, reversed);
  }
  LaneOps ops = at(level);
  if (reversed) {
    first = LLVM::GEPOp::create(ops.b, ops.loc, first.getType(), type, first,
                                LLVM::GEPArg(1 - static_cast<int32_t>(lanes)));
  }
  Value result;
  if (!mask.value) {
    result = LLVM::LoadOp::create(ops.b, ops.loc, vectorType, first, bytes);
    return {reversed ? ops.shuffle(result, order) : result, level};
  }
  Value on = vectorOf(mask), rest = otherVector(type, other, level);
  ops = at(level);
  if (reversed) {
    on = ops.shuffle(on, order);
    rest = ops.shuffle(rest, order);
  }
  if (!kernel.target.hasMaskRegisters) {
    on = opaqueMask(on, type, level);
  }
  Lane loaded =
      skippedIfDead(mask, on, rest, level, [&](OpBuilder &b) -> Value {
        return LLVM::MaskedLoadOp::create(b, ops.loc, vectorType, first, on,
                                          rest, ops.b.getI32IntegerAttr(bytes),
                                          /*nontemporal=*/nullptr);
      });
  return {reversed ? at(level).shuffle(loaded.value, order) : loaded.value,
          level};
}

/// Reads everything between the first and the last lane. The gaps are shorter
/// than a page, so they lie in pages that lanes lie in.
Lane ElementEmitter::loadWindow(const LanePointer &from, Type type) {
  auto [low, high] = std::minmax_element(from.index.pattern->begin(),
                                         from.index.pattern->end());
  LanePointer start = from;
  start.index.pattern = nullptr;
  start.index.constant += *low;
  unsigned level;
  Value address = scalarAddress(start, &level);
  LaneOps ops = at(level);
  // Two overlapping halves of a length that registers have: LLVM 22 crashes on
  // some odd lengths.
  int64_t size = *high - *low + 1, half = llvm::bit_floor(uint64_t(size));
  auto load = [&](int64_t skip) -> Value {
    Value start = ops.byteOffset(address, skip * bytesOf(type));
    return LLVM::LoadOp::create(ops.b, ops.loc, VectorType::get({half}, type),
                                start, bytesOf(type));
  };
  Value front = load(0), back = half < size ? load(size - half) : front;
  SmallVector<int64_t> order;
  for (int64_t offset : *from.index.pattern) {
    int64_t at = offset - *low;
    order.push_back(at < half ? at : half + at - (size - half));
  }
  return {vector::ShuffleOp::create(ops.b, ops.loc, front, back, order), level};
}

Lane ElementEmitter::addressVector(const LanePointer &pointer) {
  Lane lane = address(pointer);
  if (lane.isUniform()) {
    LaneOps ops = at(lane.level);
    lane.value = lanes > 1 ? ops.splat(lane.value, lanes) : lane.value;
  }
  return lane;
}

Lane ElementEmitter::loadGather(const LanePointer &from, Type type, Lane mask,
                                Lane other) {
  if (!hasGather(type) || !from.base) {
    Lane addresses = addressVector(from);
    return loadLaneByLane(addresses, type, mask, other);
  }
  unsigned level, offsetLevel = 0;
  Value base = scalarAddress(from, &level);
  Value offsets = from.index.isUniform()
                      ? Value()
                      : patternVector(from.index, &offsetLevel);
  level = std::max({level, offsetLevel, mask.level, other.level});
  LaneOps ops = at(level);
  if (!offsets) {
    offsets = ops.integer(VectorType::get({lanes}, ops.b.getI64Type()), 0);
  }
  auto pointers = VectorType::get({lanes}, base.getType());
  Value addresses = LLVM::GEPOp::create(ops.b, ops.loc, pointers,
                                        ops.b.getIntegerType(from.bytes * 8),
                                        base, ValueRange{offsets});
  Value on = mask.value
                 ? vectorOf(mask)
                 : ops.integer(VectorType::get({lanes}, ops.b.getI1Type()), 1);
  Value rest = otherVector(type, other, level);
  return skippedIfDead(mask, on, rest, level, [&](OpBuilder &b) -> Value {
    return LLVM::masked_gather::create(
        b, ops.loc, VectorType::get({lanes}, type), addresses, on,
        ValueRange{rest}, ops.b.getI32IntegerAttr(bytesOf(type)));
  });
}

/// `x % n` addresses: a run in nearly every chunk.
Lane ElementEmitter::loadWrapped(const LanePointer &from, Type type, Lane mask,
                                 Lane other) {
  LanePointer run = from;
  run.index = LaneIndex();
  run.index.terms.push_back({from.index.wrapLevel, from.index.wrappedBase});
  unsigned level;
  Value address = scalarAddress(run, &level);
  unsigned vectorLevel = from.index.vectorLevel;
  for (auto [termLevel, term] : from.index.terms) {
    vectorLevel = std::max(vectorLevel, termLevel);
  }
  level = std::max(
      {level, mask.level, other.level, vectorLevel, from.index.wrapLevel});
  // Both branches are emitted at this level, inside of the scf.if.
  LaneOps ops = at(level);
  Type result = VectorType::get({lanes}, type);
  auto branch = scf::IfOp::create(ops.b, ops.loc, TypeRange{result},
                                  from.index.unwrapped, true);
  OpBuilder::InsertPoint outside = anchors[level];
  enter(branch);
  LanePointer general = from;
  general.index.unwrapped = nullptr;
  for (bool contiguous : {true, false}) {
    Block *block = contiguous ? branch.thenBlock() : branch.elseBlock();
    anchors[level] = OpBuilder::InsertPoint(block, block->end());
    Lane loaded = contiguous
                      ? loadRun({address, level}, type, mask, other, false)
                      : loadGather(general, type, mask, other);
    LaneOps inner = at(level);
    scf::YieldOp::create(inner.b, inner.loc, loaded.value);
  }
  anchors[level] = outside;
  if (std::next(Block::iterator(branch)) == branch->getBlock()->end()) {
    leave(branch);
  }
  return {branch.getResult(0), level};
}

Lane ElementEmitter::loadBuffer(const Buffer &buffer, unsigned coords) {
  LanePointer from;
  from.base = buffer.base;
  from.bytes = bytesOf(memoryType(buffer.element, true));
  from.index = bufferIndex(buffer, coords);
  // Inactive lanes may read what they like: scratch ends with a margin.
  Value active = laneMask;
  if (direction(from, from.bytes) == 1) {
    laneMask = nullptr;
  }
  Lane result = loadFrom(from, buffer.element, Lane(), Lane());
  laneMask = active;
  return fromMemory(result, buffer.element);
}

void ElementEmitter::storeBuffer(const Buffer &buffer, unsigned coords,
                                 Lane value, unsigned level) {
  LanePointer to;
  to.base = buffer.base;
  to.bytes = bytesOf(memoryType(buffer.element, true));
  to.index = bufferIndex(buffer, coords);
  Type type = memoryType(buffer.element, lanes > 1);
  if (to.index.isUniform()) {
    unsigned addressLevel;
    Value address = scalarAddress(to, &addressLevel);
    Value scalar = toMemory(value.value, level);
    LaneOps ops = at(level);
    if (isVector(scalar)) {
      scalar = ops.extract(scalar, 0);
    }
    LLVM::StoreOp::create(ops.b, ops.loc, scalar, address, to.bytes);
    return;
  }
  Value vector = toMemory(vectorOf(value), level);
  Lane mask;
  if (laneMask) {
    mask = {laneMask, level};
  }
  store(to, type, vector, mask, false);
}

ElementEmitter::StoreForm
ElementEmitter::storeFormOf(const LanePointer &to, Type type, bool isMasked) {
  int64_t bytes = bytesOf(type);
  if (direction(to, bytes) == 1 && (!isMasked || hasMaskedRun(type))) {
    return StoreForm::Run;
  }
  return kernel.target.hasMaskRegisters && bytes >= 4 && to.base &&
                 !to.index.isUniform()
             ? StoreForm::Scatter
             : StoreForm::Lanes;
}

void ElementEmitter::reportStore(tile::StoreAccess op, const LanePointer &to,
                                 Type type, bool isMasked) {
  if (!tellsDecisions(op.getContext()) || lanes == 1) {
    return;
  }
  Decision d{"store", "a vector of neighbours", "", "", ""};
  StoreForm form = storeFormOf(to, type, isMasked);
  if (form != StoreForm::Run) {
    d.rejected = d.chosen;
    d.chosen = form == StoreForm::Scatter
                   ? "a scatter, each lane to its own address"
                   : "one element after the other";
    if (direction(to, bytesOf(type)) == 1) {
      d.reason =
          "this processor has no masked stores of " + byteCount(bytesOf(type));
      d.hint = "no mask, where all elements exist";
    } else {
      std::tie(d.reason, d.hint) = whyNoRuns(op.getPtr());
    }
  }
  recordDecision(op.getLoc(), d);
}

void ElementEmitter::store(const LanePointer &to, Type type, Value value,
                           Lane mask, bool nontemporal) {
  unsigned level = innermost(), addressLevel;
  int64_t bytes = bytesOf(type);
  if (to.index.isUniform() && !isVector(value) &&
      (!mask.value || mask.isUniform())) {
    Value address = scalarAddress(to, &addressLevel);
    LaneOps ops = at(level);
    OpBuilder::InsertionGuard guard(ops.b);
    if (mask.value) {
      auto branch = scf::IfOp::create(ops.b, ops.loc, mask.value, false);
      ops.b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    LLVM::StoreOp::create(ops.b, ops.loc, value, address, bytes);
    return;
  }
  value = at(level).splat(value, lanes);
  Value on = mask.value ? vectorOf(mask) : Value();
  StoreForm form = storeFormOf(to, type, static_cast<bool>(on));
  if (form == StoreForm::Run) {
    Value address = scalarAddress(to, &addressLevel);
    LaneOps ops = at(level);
    if (on) {
      // LLVM 22 turns a truncation (of an f64's 64-bit integer, too) and a
      // masked store whose mask is a constant with one lane on into a scalar
      // store of the wide type, which writes beyond the element. So no mask of
      // narrower elements is a constant.
      if (bytes < 8) {
        Value all = ops.splat(kernel.opaqueTrue, lanes);
        on = arith::AndIOp::create(ops.b, ops.loc, on, all);
      }
      LLVM::MaskedStoreOp::create(ops.b, ops.loc, value, address, on,
                                  ops.b.getI32IntegerAttr(bytes));
    } else {
      LLVM::StoreOp::create(ops.b, ops.loc, value, address,
                            nontemporal ? 64 : bytes, false, nontemporal);
    }
    return;
  }
  if (form == StoreForm::Scatter) {
    unsigned offsetLevel;
    Value base = scalarAddress(to, &addressLevel);
    Value offsets = patternVector(to.index, &offsetLevel);
    LaneOps ops = at(level);
    Value addresses = LLVM::GEPOp::create(
        ops.b, ops.loc, VectorType::get({lanes}, base.getType()),
        ops.b.getIntegerType(to.bytes * 8), base, ValueRange{offsets});
    if (!on) {
      on = ops.integer(VectorType::get({lanes}, ops.b.getI1Type()), 1);
    }
    LLVM::masked_scatter::create(ops.b, ops.loc, value, addresses, on,
                                 ops.b.getI32IntegerAttr(bytes));
    return;
  }
  if (on && direction(to, bytes) == 1) {
    return storeMaskedRun(to, value, on);
  }
  Lane addresses = addressVector(to);
  LaneOps ops = at(level);
  forEachLane({addresses.value, value}, on, [&](Value, ValueRange scalars) {
    Value address = scalars[0];
    if (!isa<LLVM::LLVMPointerType>(address.getType())) {
      address = LLVM::IntToPtrOp::create(
          ops.b, ops.loc, LLVM::LLVMPointerType::get(ops.b.getContext()),
          address);
    }
    LLVM::StoreOp::create(ops.b, ops.loc, scalars[1], address, bytes);
  });
}

} // namespace nereid::tocpu
