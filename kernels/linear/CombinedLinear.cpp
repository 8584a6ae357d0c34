//===- CombinedLinear.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/CombinedLinear.h"

#include "kernels/linear/FewRowsPlan.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "nereid/Runtime/Grid.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

Tensor kernels::combinedLinear(const Tensor &parts, const Tensor &lse,
                               const Tensor &weight, const Tensor &bias) {
  int64_t rows = parts.size(0), splits = parts.size(2), size = parts.size(3);
  int64_t n = weight.size(0), k = weight.size(1);
  FewRowsPlan plan = planFewRows(rows, n, k, weight.dtype());
  constexpr int64_t mostSplits = 8;
  if (!hasCompiler() || weight.device().isHost() || n == 0 ||
      parts.size(1) * size != k || rows != 1 || plan.elements() < k ||
      splits > mostSplits || size % plan.width != 0 || weight.stride(1) != 1 ||
      (bias.defined() && bias.dtype() != weight.dtype())) {
    return {};
  }
  Tensor added = contiguousOrNone(bias);
  bool early = !isCopied(bias, added) && beginsEarly(weight.device());
  Tensor y = empty({rows, n}, weight.dtype(), weight.device());
  bool isEven = n % plan.columns == 0 && k == plan.elements();
  static const OperatorKernel kernel("linear", "combined_rows_kernel");
  kernel[{cdiv(n, plan.columns)}](
      y, parts, lse, weight, orNone(added), rows, n, k, splits,
      weight.stride(0), "SPLITS"_a = nextPowerOf2(splits), "D"_a = size,
      "ROWS"_a = rows, "BLOCK_N"_a = plan.columns, "PARTS"_a = plan.parts,
      "LANES"_a = plan.lanes, "WIDTH"_a = plan.width, "EVEN"_a = isEven,
      "EARLY"_a = early, "launch_pdl"_a = early, "num_warps"_a = plan.warps,
      "maxnreg"_a = registersOfRows(1));
  return y;
}
