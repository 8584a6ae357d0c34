//===- ArithmeticOps.cpp - Arithmetic -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/IR/AMD.h"

#include <algorithm>

using namespace mlir;

namespace nereid::amd {

LogicalResult FloatToIntOp::verify() {
  auto target = dyn_cast<IntegerType>(getTarget());
  if (!target || target.isSignless()) {
    return emitOpError("expects a target with a sign or without, got ")
           << getTarget();
  }
  unsigned width = target.getWidth();
  if (width != 8 && width != 16 && width != 32 && width != 64) {
    return emitOpError("expects a target of 8, 16, 32 or 64 bits, got ")
           << width;
  }
  unsigned expected = std::max(width, 16u);
  if (!getResult().getType().isInteger(expected)) {
    return emitOpError("expects a result of i")
           << expected << " for " << target << ", got "
           << getResult().getType();
  }
  return success();
}

} // namespace nereid::amd
