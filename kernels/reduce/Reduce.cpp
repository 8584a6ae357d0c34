//===- Reduce.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reduce/Reduce.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/Parts.h"
#include "kernels/reduce/Reductions.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// x [A, R, B], contiguous, summed over R.
static Tensor sumMiddle(const Tensor &x, DType dtype) {
  int64_t a = x.size(0), r = x.size(1), b = x.size(2);
  ReducePrograms p(x, 4096, !hasCompiler());
  Tensor y = empty({a, p.parts, b}, p.parts > 1 ? f32 : dtype, x.device());
  if (p.isInner) {
    static const OperatorKernel inner("reduce", "inner_sums_kernel");
    inner[{cdiv(a, p.height), p.parts}](
        y, x, a, r, p.part, p.parts, "BLOCK_M"_a = p.height,
        "BLOCK_N"_a = p.width, "num_warps"_a = 4);
  } else {
    static const OperatorKernel outer("reduce", "outer_sums_kernel");
    outer[{a * p.blocks, p.parts}](y, x, r, b, p.part, p.parts, p.blocks,
                                   "BLOCK_M"_a = p.height,
                                   "BLOCK_N"_a = p.width, "num_warps"_a = 4);
  }
  return p.parts > 1 ? sumMiddle(y, dtype) : y;
}

Tensor kernels::sumTo(const Tensor &x, const Shape &shape, DType dtype) {
  Checks checks("sum_to");
  checks.gradients("x", x);
  int front = x.rank() - int(shape.size());
  bool fits = front >= 0;
  for (int i = 0; fits && i < int(shape.size()); ++i) {
    fits = shape[size_t(i)] == 1 || shape[size_t(i)] == x.size(front + i);
  }
  if (!fits) {
    std::string sizes;
    for (int64_t size : shape) {
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    }
    checks.fail("shape", "sizes that broadcast to those of x, " + x.str(),
                "[" + sizes + "]");
  }
  if (x.numel() == 0) {
    return zeros(shape, dtype, x.device());
  }
  auto isSummed = [&](int axis) {
    return axis < front || shape[size_t(axis - front)] == 1;
  };
  if (!hasCompiler() && dtype != f32 && dtype != x.dtype() &&
      x.dtype() != f32) {
    return sumTo(x, shape, f32).to(dtype);
  }
  if (x.dtype() == f64) {
    std::vector<int> axes;
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (isSummed(axis)) {
        axes.push_back(axis);
      }
    }
    return (axes.empty() ? x : sum(x, axes)).to(dtype).reshape(shape);
  }
  // From the last: each run of dimensions that are summed is one step, and the
  // last step rounds.
  Shape sizes = x.shape();
  Tensor sum = x.contiguous();
  int64_t behind = 1;
  for (int axis = x.rank(); axis-- > 0;) {
    if (!isSummed(axis)) {
      behind *= sizes[size_t(axis)];
      continue;
    }
    int64_t length = sizes[size_t(axis)];
    while (axis > 0 && (isSummed(axis - 1) || sizes[size_t(axis - 1)] == 1)) {
      length *= sizes[size_t(--axis)];
    }
    if (length > 1) {
      bool isLast = true;
      for (int other = 0; other < axis; ++other) {
        isLast &= !isSummed(other) || sizes[size_t(other)] == 1;
      }
      Tensor middle = sum.view({-1, length, behind});
      sum = sumMiddle(middle, isLast ? dtype : f32);
    }
  }
  return sum.view(shape).to(dtype);
}
