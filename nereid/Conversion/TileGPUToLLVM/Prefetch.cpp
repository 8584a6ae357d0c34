//===- Prefetch.cpp - Runs of memory for the second-level cache -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One bulk instruction of one thread: the copy engine walks the lines.
// A prefetch a line by each thread took registers that kernels had not to give
// (docs/decisions/Prefetch.md).
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::emitPrefetch(tilegpu::PrefetchOp op) {
  Value bytes = arith::AndIOp::create(b, loc, scalar(op.getBytes()),
                                      ops().i32(~uint32_t{15}));
  auto compare = [&](arith::CmpIPredicate predicate, Value value) {
    return arith::CmpIOp::create(b, loc, predicate, value, ops().i32(0));
  };
  Value condition = andOf(compare(arith::CmpIPredicate::eq, thread),
                          compare(arith::CmpIPredicate::ne, bytes));
  machine->prefetch(
      LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), scalar(op.getStart())),
      bytes, andOf(condition, scalar(op.getCondition())));
}

void KernelEmitter::emitMultiprocessors(tilegpu::MultiprocessorsOp op) {
  scalars[op.getResult()] = machine->processorCount();
}

void addPrefetchLowerings(LoweringTable &table) {
  table.add<tilegpu::PrefetchOp, &KernelEmitter::emitPrefetch>();
  table.add<tilegpu::MultiprocessorsOp, &KernelEmitter::emitMultiprocessors>();
}

} // namespace nereid::togpu
