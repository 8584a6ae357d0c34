//===- NormedLinear.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/NormedLinear.h"

#include "kernels/add_norm/AddNorm.h"
#include "kernels/linear/FewRowsPlan.h"
#include "kernels/linear/Product.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "kernels/operator/Rows.h"
#include "nereid/Runtime/Grid.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// Of one row: each program reads all rows again, and has the norm of each.
static bool isOneLaunch(int64_t rows, const Tensor &x, const Tensor &residual,
                        const Tensor &weight, const FewRowsPlan &plan,
                        const NormedLinearOptions &options) {
  return hasCompiler() && !x.device().isHost() && rows == 1 &&
         plan.elements() >= x.size(-1) && weight.numel() > 0 &&
         weight.stride(1) == 1 &&
         !mixesTypes({x, residual, weight, options.normWeight, options.normBias,
                      options.bias});
}

std::pair<Tensor, Tensor>
kernels::addLayerNormLinear(const Tensor &x, const Tensor &residual,
                            const Tensor &weight,
                            const NormedLinearOptions &options) {
  Checks checks("addLayerNormLinear");
  checks.floats("x", x).rank(1, 16);
  checks.floats("residual", residual).shape(x.shape(), "that of x");
  checks.floats("weight", weight).rank(2, 2).dtype(x.dtype(), "as x has");
  int64_t k = x.size(-1), n = weight.size(0);
  checks.any("weight", weight).shape({n, k}, "the last dimension of x");
  checks.optional("normWeight", options.normWeight)
      .shape({k}, "the last dimension of x");
  checks.optional("normBias", options.normBias)
      .shape({k}, "the last dimension of x");
  checks.optional("bias", options.bias).shape({n}, "the rows of weight");
  checks.require(options.eps >= 0, "eps", "a number that is not negative",
                 options.eps);
  int64_t rows = k > 0 ? x.numel() / k : 0;
  FewRowsPlan plan = planFewRows(rows, n, k, x.dtype());
  if (!isOneLaunch(rows, x, residual, weight, plan, options)) {
    auto [normed, sum] = addLayerNorm(x, residual, options.normWeight,
                                      options.normBias, options.eps);
    return {linear(normed, weight, options.bias, options.activation), sum};
  }
  Rows in = rowsOf(x), other = rowsOf(residual);
  Tensor normWeight = contiguousOrNone(options.normWeight),
         normBias = contiguousOrNone(options.normBias),
         bias = contiguousOrNone(options.bias);
  bool early = !isCopied(options.normWeight, normWeight) &&
               !isCopied(options.normBias, normBias) &&
               !isCopied(options.bias, bias) && beginsEarly(x.device());
  bool isEven = n % plan.columns == 0 && k == plan.elements();
  Shape shape = x.shape();
  shape.back() = n;
  Tensor y = empty(shape, x.dtype(), x.device()),
         sum = empty(x.shape(), residual.dtype(), x.device());
  static const OperatorKernel kernel("linear", "norm_rows_kernel");
  kernel[{cdiv(n, plan.columns)}](
      y, sum, in.tensor, other.tensor, orNone(normWeight), orNone(normBias),
      weight, orNone(bias), in.count, n, k, in.stride, other.stride,
      weight.stride(0), options.eps, "ROWS"_a = rows,
      "BLOCK_N"_a = plan.columns, "PARTS"_a = plan.parts,
      "LANES"_a = plan.lanes, "WIDTH"_a = plan.width, "EVEN"_a = isEven,
      "EARLY"_a = early, "ACTIVATION"_a = nameOf(options.activation),
      "launch_pdl"_a = early, "num_warps"_a = plan.warps,
      "maxnreg"_a = registersOfRows(1));
  return {y, sum};
}
