//===- LoopIndex.cpp - A loop's variable after its loop ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Triton leaves it undefined; here it is what Python has, where it is read.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

/// As in Python: the index of the last iteration; without one, what the
/// variable was before (where it was nothing, the loop's start).
void Evaluator::bindLastIndex(const LoopIndex &loop) {
  using namespace mlir::arith;
  const Tensor &lower = loop.bounds[0], &upper = loop.bounds[1];
  Tensor one = emitter.constant(loop.type, Int{1});
  // A step of 0 would divide by it, though the loop never ends.
  Tensor step{emitter.create<MaxUIOp>(loop.bounds[2].value, one.value),
              loop.type};
  Tensor inside = emitter.sub(emitter.sub(upper, lower), one);
  Tensor steps{emitter.create<DivUIOp>(inside.value, step.value), loop.type};
  Tensor distance = emitter.mul(steps, step);
  Tensor last = loop.reversed ? emitter.sub(upper, distance)
                              : emitter.add(lower, distance);
  Tensor before = loop.reversed ? upper : lower;
  if (loop.before.isNumber() || loop.before.isTensor()) {
    Diagnostics::Mark mark = diag.mark();
    FailureOr<Tensor> value = emitter.toTensor(loop.before);
    bool isIndex =
        succeeded(value) && !value->isBlock() && value->type.isInteger();
    if (isIndex) {
      value = emitter.cast(*value, loop.type);
    }
    if (failed(value)) {
      diag.forget(mark); // too wide for 64 bits
    } else if (isIndex) {
      before = *value;
    }
  }
  Tensor runs{emitter.create<CmpIOp>(loop.type.isUnsignedInt()
                                         ? CmpIPredicate::ult
                                         : CmpIPredicate::slt,
                                     lower.value, upper.value),
              DType::Int1};
  bind(loop.target->id,
       {Value(emitter.select(runs, last, before)), false, loop.target->span});
}

} // namespace nereid::irgen
