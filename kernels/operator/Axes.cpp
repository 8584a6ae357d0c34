//===- Axes.cpp -------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/Axes.h"

#include "kernels/operator/Checks.h"

using namespace nereid;
using namespace nereid::kernels;

int kernels::checkedAxis(const char *op, const Tensor &x, int64_t axis,
                         int rank) {
  int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) {
    Checks(op).fail("axis",
                    rank == 0
                        ? "none, of " + x.str()
                        : "a dimension from " + std::to_string(-rank) + " to " +
                              std::to_string(rank - 1) + ", of " + x.str(),
                    std::to_string(axis));
  }
  return static_cast<int>(at);
}

std::vector<bool> Axes::of(const char *op, const Tensor &x) const {
  std::vector<bool> isOne(size_t(x.rank()), axes.empty());
  for (int64_t axis : axes) {
    if (x.rank() == 0 && (axis == 0 || axis == -1)) {
      continue; // as PyTorch: a number has one dimension
    }
    size_t at = size_t(checkedAxis(op, x, axis));
    if (isOne[at]) {
      Checks(op).fail("axes", "each dimension once",
                      std::to_string(axis) + " twice");
    }
    isOne[at] = true;
  }
  return isOne;
}
