//===- AsyncOps.cpp - Barriers in memory, copies of tensors ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/IR/NV.h"

using namespace mlir;

namespace nereid::nv {

LogicalResult MbarrierInitOp::verify() {
  constexpr uint32_t most = (1u << 20) - 1;
  if (getCount() < 1 || getCount() > most) {
    return emitOpError("expects 1 to ")
           << most << " arrivals, got " << getCount();
  }
  return success();
}

static LogicalResult verifyCoordinates(Operation *op, ValueRange coordinates) {
  if (coordinates.empty() || coordinates.size() > 5) {
    return op->emitOpError("expects 1 to 5 coordinates, got ")
           << coordinates.size();
  }
  return success();
}

LogicalResult TmaLoadOp::verify() {
  return verifyCoordinates(*this, getCoordinates());
}

LogicalResult TmaStoreOp::verify() {
  return verifyCoordinates(*this, getCoordinates());
}

} // namespace nereid::nv
