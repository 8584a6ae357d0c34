//===- DotFetch.cpp - The next operands come while these are multiplied ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product leaves memory idle, and the operands of the next iteration of the
// loop around it would be waited for when they are packed: rows of a block lie
// pages apart, where the processor's own prefetcher does not follow. So the
// loop over k asks for one line of theirs every few steps, in the order in
// which they will be packed, into the second-level cache.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/DotEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

static constexpr int64_t lineBytes = 64;
/// Of both operands: what a second-level cache has room for beside the packed
/// operands of this iteration.
static constexpr int64_t maxFetchBytes = 512 << 10;
/// Operations of an address that are looked through.
static constexpr unsigned maxAddressOps = 64;
/// Steps along k between two lines, at most, and lines a step, at most.
static constexpr int64_t mostSteps = 8, mostLines = 2;

/// Does an address depend on memory? Its computation would be a load more.
static bool readsMemory(Value pointers) {
  SmallVector<Value> work = {pointers};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second) {
      continue;
    }
    if (op->getNumRegions() || !isMemoryEffectFree(op) ||
        seen.size() > maxAddressOps) {
      return true;
    }
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// The next block of an operand that is loaded for this product alone.
std::optional<DotEmitter::Ahead> DotEmitter::nextBlock(Value value) {
  auto load = value.getDefiningOp<tile::LoadAccess>();
  if (!load || kernel.buffer(value) || readsMemory(load.getPtr())) {
    return std::nullopt;
  }
  ArrayRef<int64_t> shape = tile::getShape(value.getType());
  int64_t bytes = tile::getElementBytes(tile::getElement(value.getType()));
  int fast = fastDimension(kernel, value), slow = 1 - fast;
  ElementEmitter evaluator(kernel, lineBytes / bytes);
  evaluator.setAnchor(0, kernel.getTop());
  auto pointerAt = [&](int64_t row) {
    Coords coords(2);
    coords[slow].offset = row;
    coords[fast].pattern = evaluator.iota();
    return evaluator.pointer(load.getPtr(), evaluator.intern(coords));
  };
  unsigned level;
  LanePointer first = pointerAt(0), second = pointerAt(1), next = first;
  Value now = evaluator.contiguousAddress(first, bytes, &level);
  scf::ForOp loop = now ? advance(kernel, evaluator, next) : nullptr;
  if (!loop) {
    return std::nullopt;
  }
  Value below = evaluator.contiguousAddress(second, bytes, &level),
        then = evaluator.contiguousAddress(next, bytes, &level);
  LaneOps ops = evaluator.at(0);
  OpBuilder &b = ops.b;
  auto integer = [&](Value pointer) {
    return LLVM::PtrToIntOp::create(b, ops.loc, b.getI64Type(), pointer);
  };
  // After the last iteration, lines that are in the cache already.
  Value following =
      arith::AddIOp::create(b, ops.loc, loop.getInductionVar(), loop.getStep());
  Value goesOn = arith::CmpIOp::create(b, ops.loc, arith::CmpIPredicate::slt,
                                       following, loop.getUpperBound());
  Ahead ahead;
  ahead.address = arith::SelectOp::create(b, ops.loc, goesOn, then, now);
  ahead.rowBytes =
      arith::SubIOp::create(b, ops.loc, integer(below), integer(now));
  ahead.rows = shape[slow];
  ahead.lines = llvm::divideCeil(shape[fast] * bytes, lineBytes);
  return ahead;
}

void DotEmitter::planFetches() {
  int64_t wholePanels = std::max<int64_t>(N / (lanes * columns), 1);
  fetchSlots = M / rows * wholePanels * (K / group);
  if (batched || usesTiles() || M / rows < 2) {
    return;
  }
  int64_t lines = 0;
  for (Value value : {op.getLhs(), op.getRhs()}) {
    if (std::optional<Ahead> found = nextBlock(value)) {
      lines += found->rows * found->lines;
      ahead.push_back(*found);
    }
  }
  if (lines * lineBytes > maxFetchBytes || lines > fetchSlots * mostLines) {
    ahead.clear();
  }
  if (ahead.empty()) {
    return;
  }
  fetchSteps = 1;
  while (fetchSteps < mostSteps && K / group % (2 * fetchSteps) == 0 &&
         2 * fetchSteps * lines <= fetchSlots) {
    fetchSteps *= 2;
  }
  fetchLines = llvm::divideCeil(lines * fetchSteps, fetchSlots);
}

/// Asks for the lines of step `k` of the block of the result at `row` and
/// `column`.
void DotEmitter::fetchAhead(LaneOps ops, const Coord &row, const Coord &column,
                            Value k) {
  OpBuilder &b = ops.b;
  auto divide = [&](Value x, int64_t by) -> Value {
    return by == 1 ? x : arith::DivUIOp::create(b, ops.loc, x, ops.i64(by));
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, ops.loc, condition, x, y);
  };
  Value block = row.base ? divide(row.base, rows) : ops.i64(0);
  if (column.base) {
    block = ops.add(
        ops.mul(divide(column.base, lanes * columns), ops.i64(M / rows)),
        block);
  }
  Value slot = ops.mul(block, ops.i64(K / group / fetchSteps));
  slot = k ? ops.add(slot, divide(k, fetchSteps)) : slot;
  for (int64_t i = 0; i < fetchLines; ++i) {
    Value line = ops.add(ops.mul(slot, ops.i64(fetchLines)), ops.i64(i));
    Value address;
    for (const Ahead &one : ahead) {
      int64_t count = one.rows * one.lines;
      Value last = ops.i64(count - 1);
      Value isBeyond = arith::CmpIOp::create(
          b, ops.loc, arith::CmpIPredicate::sgt, line, last);
      Value index = choose(isBeyond, last, line);
      Value inRow = divide(index, one.lines);
      Value offset =
          ops.add(ops.mul(inRow, one.rowBytes),
                  ops.mul(ops.sub(index, ops.mul(inRow, ops.i64(one.lines))),
                          ops.i64(lineBytes)));
      Value place =
          LLVM::GEPOp::create(b, ops.loc, one.address.getType(), b.getI8Type(),
                              one.address, ValueRange{offset});
      // The lines of the second operand follow those of the first.
      Value isBefore = arith::CmpIOp::create(
          b, ops.loc, arith::CmpIPredicate::slt, line, ops.i64(0));
      address = address ? choose(isBefore, address, place) : place;
      line = ops.sub(line, ops.i64(count));
    }
    LLVM::Prefetch::create(b, ops.loc, address, /*rw=*/0, /*hint=*/2,
                           /*cache=*/1);
  }
}

} // namespace nereid::tocpu
