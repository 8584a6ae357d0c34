//===- LoopBounds.cpp - Which iterations a loop has -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/LoopBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tilegpu {

Value hasIteration(OpBuilder &b, scf::ForOp loop, Value from, unsigned ahead) {
  using P = arith::CmpIPredicate;
  ImplicitLocOpBuilder l(loop.getLoc(), b);
  Value step = loop.getStep(), upper = loop.getUpperBound();
  Type i64 = b.getI64Type();
  P less = loop.getUnsignedCmp() ? P::ult : P::slt;
  auto number = [&](Type type, int64_t value) -> Value {
    return arith::ConstantOp::create(l, b.getIntegerAttr(type, value));
  };
  auto wide = [&](Value value) -> Value {
    return value.getType() == i64 ? value
           : less == P::ult ? Value(arith::ExtUIOp::create(l, i64, value))
                            : Value(arith::ExtSIOp::create(l, i64, value));
  };
  bool isRunTime = !matchPattern(step, m_Constant());
  Value reaches, times = number(i64, ahead);
  if (isRunTime && ahead && step.getType() == i64) {
    Value left = arith::SubIOp::create(l, upper, from);
    left = arith::SubIOp::create(l, left, number(i64, 1));
    Value share = arith::DivUIOp::create(l, left, times);
    reaches = arith::CmpIOp::create(l, P::ule, step, share);
  } else {
    Value distance = arith::MulIOp::create(l, wide(step), times);
    Value at = arith::AddIOp::create(l, wide(from), distance);
    reaches = arith::CmpIOp::create(l, less, at, wide(upper));
  }
  if (isRunTime && from == loop.getLowerBound()) {
    Value none = number(step.getType(), 0);
    Value positive = arith::CmpIOp::create(l, less, none, step);
    Value begins = arith::CmpIOp::create(l, less, from, upper);
    begins = arith::AndIOp::create(l, begins, positive);
    reaches = arith::AndIOp::create(l, reaches, begins);
  }
  return reaches;
}

} // namespace nereid::tilegpu
