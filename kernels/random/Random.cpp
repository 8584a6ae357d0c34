//===- Random.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/random/Random.h"

#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"

#include <algorithm>
#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// Does a kernel that stores i64 round each of [low, high] as the host does?
static bool storesIntegers(DType dtype, double low, double high) {
  double most = std::max(std::abs(low), std::abs(high));
  if (dtype == f16 || dtype == bf16) {
    return most <= (1 << 24);
  }
  if (isFloat(dtype)) {
    return (dtype == f32 || dtype == f64) && most < 0x1p53;
  }
  // Beyond the type's range the host saturates.
  double edge = std::ldexp(1.0, int(bitWidth(dtype)) - isSigned(dtype));
  return dtype != i1 && most < 0x1p53 && high < edge &&
         low >= (isSigned(dtype) ? -edge : 0);
}

static bool isWhole(double value) { return value == std::floor(value); }

/// Is there a kernel without a compiler (ahead.txt)?
static bool isCompiledAhead(Generation::Kind kind, DType dtype) {
  switch (kind) {
  case Generation::Kind::Uniform:
  case Generation::Kind::Normal:
    return isKernelFloat(dtype);
  case Generation::Kind::Integers:
  case Generation::Kind::Arange:
    return dtype == i32 || dtype == i64 || dtype == f32;
  }
  return false;
}

bool kernels::generate(const Tensor &to, const Generation &g) {
  if ((!hasCompiler() &&
       !(hasKernels("random") && isCompiledAhead(g.kind, to.dtype()))) ||
      !to.isContiguous()) {
    return false;
  }
  int64_t n = to.numel();
  if (n == 0) {
    return true;
  }
  constexpr int64_t groups = 512, elements = 1024;
  Grid grid(cdiv(n, 4 * groups));
  auto seed = static_cast<int64_t>(g.seed);
  switch (g.kind) {
  case Generation::Kind::Uniform:
  case Generation::Kind::Normal: {
    if (byteSize(to.dtype()) == 1) {
      return false;
    }
    static const OperatorKernel uniform("random", "uniform_kernel"),
        normal("random", "normal_kernel");
    const OperatorKernel &kernel =
        g.kind == Generation::Kind::Uniform ? uniform : normal;
    kernel[grid](to, n, seed, "BLOCK"_a = groups, "num_warps"_a = 4);
    return true;
  }
  case Generation::Kind::Integers: {
    if (g.size >> 32 || !storesIntegers(to.dtype(), double(g.low),
                                        double(g.low) + double(g.size) - 1)) {
      return false;
    }
    static const OperatorKernel kernel("random", "integers_kernel");
    kernel[grid](to, n, seed, g.low, int64_t(g.size), "BLOCK"_a = groups,
                 "num_warps"_a = 4);
    return true;
  }
  case Generation::Kind::Arange: {
    double last = g.start + double(n - 1) * g.step;
    if (!isWhole(g.start) || !isWhole(g.step) || std::abs(g.step) >= 0x1p53 ||
        !storesIntegers(to.dtype(), std::min(g.start, last),
                        std::max(g.start, last))) {
      return false;
    }
    static const OperatorKernel kernel("random", "arange_kernel");
    kernel[{cdiv(n, elements)}](to, n, int64_t(g.start), int64_t(g.step),
                                "BLOCK"_a = elements, "num_warps"_a = 4);
    return true;
  }
  }
  return false;
}
