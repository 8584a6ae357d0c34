//===- Histogram.cpp - Counts ---------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Forms.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

static void zeroCounts(LoopEmitter &kernel, Operation *, const Buffer &counts) {
  LaneOps ops = kernel.ops();
  LLVM::MemsetOp::create(ops.b, ops.loc, counts.base,
                         ops.integer(ops.b.getI8Type(), 0),
                         ops.i64(4 * counts.shape[0]), false);
}

static void countLanes(ElementEmitter &evaluator, Operation *op,
                       unsigned coords, const Buffer &counts) {
  auto histogram = cast<tile::HistogramOp>(op);
  Value value = evaluator.evaluate(histogram.getSource(), coords).value;
  Lane active = evaluator.activeMask(histogram.getMask(), coords);
  Value on = active.value ? evaluator.vectorOf(active) : Value();
  LaneOps ops = evaluator.at(evaluator.innermost());
  evaluator.forEachLane({value}, on, [&](Value, ValueRange scalars) {
    Value bin = scalars[0];
    Value inside =
        arith::CmpIOp::create(ops.b, ops.loc, arith::CmpIPredicate::ult, bin,
                              ops.integer(bin.getType(), counts.shape[0]));
    auto branch = scf::IfOp::create(ops.b, ops.loc, inside, false);
    OpBuilder::InsertionGuard guard(ops.b);
    ops.b.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value slot =
        LLVM::GEPOp::create(ops.b, ops.loc, counts.base.getType(),
                            ops.b.getI32Type(), counts.base, ValueRange{bin});
    Value old = LLVM::LoadOp::create(ops.b, ops.loc, ops.b.getI32Type(), slot);
    LLVM::StoreOp::create(ops.b, ops.loc, ops.add(old, ops.i32(1)), slot);
  });
}

void addHistogramForms(FormTable &table) {
  table.add<tile::HistogramOp>(
      {.reads = {}, .begin = zeroCounts, .lanes = countLanes});
}

} // namespace nereid::tocpu
