//===- Histogram.cpp - Counts ---------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

/// Counts in shared memory.
static void emitHistogram(KernelEmitter &e, tile::HistogramOp op) {
  const TileInfo &from = e.info(op.getSource().getType());
  const TileInfo &to = e.info(op.getType());
  int64_t bins = to.shape[0];
  int64_t threads = int64_t{e.target.lanes} * e.warps;
  reportDecision(op, [&] {
    return Decision{"histogram",
                    "one atomic addition to shared memory for each element, " +
                        byteCount(4 * bins) + " of counts, 2 barriers",
                    "", "", ""};
  });
  unsigned scratch = e.acquireScratch();
  auto address = [&](Value index) {
    return e.sharedAddress(scratch, index, e.b.getI32Type());
  };
  for (int64_t first = 0; first < bins; first += threads) {
    Value index =
        arith::AddIOp::create(e.b, e.loc, e.thread, e.ops().i32(first));
    Value inside =
        first + threads <= bins
            ? Value()
            : arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult,
                                    index, e.ops().i32(bins));
    e.storeShared(address(index), {e.ops().i32(0)}, inside);
  }
  e.barrier();
  Value firstCopy = e.isFirstCopy(from.layout);
  for (unsigned r = 0; r < from.count(); ++r) {
    if (from.dead[r]) {
      continue;
    }
    Value bin = e.regs(op.getSource())[r];
    Value counted =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, bin,
                              e.ops().integer(bin.getType(), bins));
    counted = e.andOf(counted, e.andOf(e.insideShape(from, r), firstCopy));
    if (op.getMask()) {
      counted = e.andOf(counted, e.regs(op.getMask())[r]);
    }
    if (bin.getType().isInteger(64)) {
      bin = arith::TruncIOp::create(e.b, e.loc, e.b.getI32Type(), bin);
    }
    e.machine->countShared(address(bin), counted);
  }
  e.barrier();
  Registers result(to.count());
  for (unsigned r = 0; r < to.count(); ++r) {
    if (to.dead[r]) {
      continue;
    }
    Value index = e.indexOf(to, r, 0);
    if (Value inside = e.insideShape(to, r)) {
      index =
          arith::SelectOp::create(e.b, e.loc, inside, index, e.ops().i32(0));
    }
    result[r] = e.loadShared(address(index), e.b.getI32Type(), 1)[0];
  }
  e.bind(op, std::move(result));
}

void addHistogramLowerings(LoweringTable &table) {
  table.add<tile::HistogramOp, emitHistogram>();
}

} // namespace nereid::togpu
