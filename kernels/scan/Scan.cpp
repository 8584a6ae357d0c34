//===- Scan.cpp -------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/scan/Scan.h"

#include "kernels/operator/Axes.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static Tensor runningSum(const Tensor &x, int axis, bool reverse) {
  Checks checks("cumsum");
  checks.any("x", x);
  DType t = x.dtype();
  bool isOfFloats = isFloat(t);
  if (t == u64 || (isOfFloats && byteSize(t) == 1)) {
    checks.fail("x",
                "a tensor of fp32, fp16, bf16, fp64, integers but u64, or int1",
                x.str());
  }
  if (!hasCompiler() && t == f64) {
    checks.fail("x", "no fp64 in a program without a compiler", x.str());
  }
  int at = checkedAxis("cumsum", x, axis);
  Tensor y = empty(x.shape(), isOfFloats ? t : i64, x.device());
  if (y.numel() == 0) {
    return y;
  }
  int64_t outer = 1, length = x.size(at), inner = 1;
  for (int i = 0; i < x.rank(); ++i) {
    (i < at ? outer : inner) *= i == at ? 1 : x.size(i);
  }
  // Kernels compiled ahead of time are those of floats and of i64, in one size.
  bool isFixed = !hasCompiler();
  Tensor in = (isFixed && !isOfFloats ? x.to(i64) : x).contiguous();
  const char *wide = t == f64 ? "double" : isOfFloats ? "float" : "signed";
  if (inner == 1) {
    int64_t width =
        isFixed ? 1024 : std::min<int64_t>(nextPowerOf2(length), 1024);
    int64_t height = std::max<int64_t>(1024 / width, 1);
    static const OperatorKernel kernel("scan", "inner_cumsum_kernel");
    kernel[{cdiv(outer, height)}](y, in, outer, length, "WIDE"_a = wide,
                                  "REVERSE"_a = reverse, "BLOCK_M"_a = height,
                                  "BLOCK_N"_a = width, "num_warps"_a = 4);
  } else {
    int64_t width = isFixed ? 256 : std::min<int64_t>(nextPowerOf2(inner), 256);
    int64_t blocks = cdiv(inner, width);
    static const OperatorKernel kernel("scan", "outer_cumsum_kernel");
    kernel[{outer * blocks}](y, in, length, inner, blocks, "WIDE"_a = wide,
                             "REVERSE"_a = reverse, "BLOCK"_a = width,
                             "num_warps"_a = 4);
  }
  return y;
}

Tensor kernels::cumsum(const Tensor &x, int axis) {
  return runningSum(x, axis, false);
}

Variable kernels::cumsum(const Variable &x, int axis) {
  return autograd::record("cumsum", {x}, runningSum(x.value(), axis, false),
                          [axis](const Tensor &dy, autograd::Needs) {
                            return autograd::Gradients{
                                runningSum(dy, axis, true)};
                          });
}
