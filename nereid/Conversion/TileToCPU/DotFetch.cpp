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

bool readsMemory(Value value) {
  SmallVector<Value> work = {value};
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
  int64_t wholePanels = std::max<int64_t>(N / (lanes * columns), 1),
          blocks = M / rows * wholePanels, steps = K / group;
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
  // A block of the result asks for lines of one operand.
  auto fits = [&](int64_t stepsOfLine, int64_t linesOfStep) {
    int64_t needed = 0;
    for (const Ahead &one : ahead) {
      needed += llvm::divideCeil(one.rows * one.lines,
                                 steps / stepsOfLine * linesOfStep);
    }
    return needed <= blocks;
  };
  fetchSteps = fetchLines = 1;
  while (fetchLines < mostLines && !fits(1, fetchLines)) {
    ++fetchLines;
  }
  if (lines * lineBytes > maxFetchBytes || !fits(1, fetchLines)) {
    ahead.clear();
    return;
  }
  while (fetchSteps < mostSteps && steps % (2 * fetchSteps) == 0 &&
         fits(2 * fetchSteps, fetchLines)) {
    fetchSteps *= 2;
  }
}

/// What the block of the result at `row` and `column` asks for: the blocks
/// share out the first operand's lines, then the second's. What the last one of
/// an operand asks for beyond its end does no harm; blocks that are left ask
/// for one line, again and again.
DotEmitter::Fetching DotEmitter::startFetching(LaneOps ops, const Coord &row,
                                               const Coord &column) {
  OpBuilder &b = ops.b;
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, ops.loc, predicate, x, y);
  };
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
  int64_t linesOfBlock = K / group / fetchSteps * fetchLines;
  Fetching result;
  for (const Ahead &one : ahead) {
    int64_t blocks = llvm::divideCeil(one.rows * one.lines, linesOfBlock);
    Value line = ops.mul(block, ops.i64(linesOfBlock)),
          inRow = divide(line, one.lines),
          before = ops.sub(line, ops.mul(inRow, ops.i64(one.lines)));
    Value offset = ops.add(ops.mul(inRow, one.rowBytes),
                           ops.mul(before, ops.i64(lineBytes)));
    Fetching own;
    own.address =
        LLVM::GEPOp::create(b, ops.loc, one.address.getType(), b.getI8Type(),
                            one.address, ValueRange{offset});
    own.left = ops.sub(ops.i64(one.lines), before);
    own.lines = ops.i64(one.lines);
    own.next = ops.i64(lineBytes);
    own.nextRow = ops.sub(one.rowBytes, ops.i64((one.lines - 1) * lineBytes));
    Value isOver = compare(arith::CmpIPredicate::sge, block, ops.i64(blocks));
    if (!result.address) {
      result = own;
    } else {
      Value isOwn = compare(arith::CmpIPredicate::sge, block, ops.i64(0));
      result.address = choose(isOwn, own.address, result.address);
      result.left = choose(isOwn, own.left, result.left);
      result.lines = choose(isOwn, own.lines, result.lines);
      result.next = choose(isOwn, own.next, result.next);
      result.nextRow = choose(isOwn, own.nextRow, result.nextRow);
    }
    result.address = choose(isOver, one.address, result.address);
    result.next = choose(isOver, ops.i64(0), result.next);
    result.nextRow = choose(isOver, ops.i64(0), result.nextRow);
    block = ops.sub(block, ops.i64(blocks));
  }
  return result;
}

/// Asks for the lines of a step, and goes on to the next ones.
void DotEmitter::fetchLine(LaneOps ops, Fetching &fetching) {
  OpBuilder &b = ops.b;
  for (int64_t i = 0; i < fetchLines; ++i) {
    LLVM::Prefetch::create(b, ops.loc, fetching.address, /*rw=*/0, /*hint=*/2,
                           /*cache=*/1);
    Value left = ops.sub(fetching.left, ops.i64(1));
    Value ends = arith::CmpIOp::create(b, ops.loc, arith::CmpIPredicate::eq,
                                       left, ops.i64(0));
    Value step = arith::SelectOp::create(b, ops.loc, ends, fetching.nextRow,
                                         fetching.next);
    fetching.left =
        arith::SelectOp::create(b, ops.loc, ends, fetching.lines, left);
    fetching.address =
        LLVM::GEPOp::create(b, ops.loc, fetching.address.getType(),
                            b.getI8Type(), fetching.address, ValueRange{step});
  }
}

} // namespace nereid::tocpu
