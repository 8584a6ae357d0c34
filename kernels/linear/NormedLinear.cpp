//===- NormedLinear.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/NormedLinear.h"

#include "kernels/add_norm/AddNorm.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/linear/FewRowsPlan.h"
#include "kernels/linear/Product.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "kernels/operator/Rows.h"
#include "nereid/Runtime/Grid.h"

#include <functional>
#include <numeric>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {
/// The rows of a tensor, or those of a table that indices choose.
struct ChosenRows {
  Tensor tensor;
  Tensor indices; ///< or undefined

  Shape shape() const {
    if (!indices.defined()) {
      return tensor.shape();
    }
    Shape shape = indices.shape();
    shape.push_back(tensor.size(-1));
    return shape;
  }
  /// In memory of their own where they are chosen.
  Tensor taken() const {
    return indices.defined() ? embedding(indices, tensor) : tensor;
  }
};
} // namespace

/// Of one row: each program reads it again, and has its norm.
static bool isOneLaunch(int64_t rows, const Tensor &x, const Tensor &residual,
                        const Tensor &weight, const FewRowsPlan &plan,
                        const NormedLinearOptions &options) {
  return hasCompiler() && !x.device().isHost() && rows == 1 && x.numel() > 0 &&
         residual.numel() > 0 && plan.elements() >= x.size(-1) &&
         weight.numel() > 0 && weight.stride(1) == 1 &&
         !mixesTypes({x, residual, weight, options.normWeight, options.normBias,
                      options.bias});
}

static ChosenRows checkRows(Checks &checks, const char *name,
                            const Tensor &tensor, const char *indicesName,
                            const Tensor &indices) {
  bool isTable = indices.defined();
  checks.floats(name, tensor).rank(isTable ? 2 : 1, isTable ? 2 : 16);
  if (isTable) {
    checks.integers(indicesName, indices).rank(0, 15);
  }
  return {tensor, indices};
}

std::pair<Tensor, Tensor>
kernels::addLayerNormLinear(const Tensor &x, const Tensor &residual,
                            const Tensor &weight,
                            const NormedLinearOptions &options) {
  Checks checks("addLayerNormLinear");
  ChosenRows chosen = checkRows(checks, "x", x, "xRows", options.xRows),
             other = checkRows(checks, "residual", residual, "residualRows",
                               options.residualRows);
  Shape shape = chosen.shape(), inFront = shape;
  inFront.pop_back();
  if (other.indices.defined()) {
    checks.any("residual", residual).shape({-1, shape.back()}, "rows as of x");
    checks.any("residualRows", other.indices)
        .shape(inFront, "the dimensions of x in front");
  } else {
    checks.any("residual", residual).shape(shape, "that of x");
  }
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
  int64_t rows = k > 0 ? std::accumulate(inFront.begin(), inFront.end(),
                                         int64_t(1), std::multiplies<>())
                       : 0;
  FewRowsPlan plan = planFewRows(rows, n, k, x.dtype());
  if (!isOneLaunch(rows, x, residual, weight, plan, options)) {
    auto [normed, sum] =
        addLayerNorm(chosen.taken(), other.taken(), options.normWeight,
                     options.normBias, options.eps);
    return {linear(normed, weight, options.bias, options.activation), sum};
  }
  Rows table = rowsOf(x), otherTable = rowsOf(residual);
  Tensor normWeight = contiguousOrNone(options.normWeight),
         normBias = contiguousOrNone(options.normBias),
         bias = contiguousOrNone(options.bias);
  bool copies = isCopied(options.normWeight, normWeight) ||
                isCopied(options.normBias, normBias) ||
                isCopied(options.bias, bias);
  Overlap overlap = copies ? Overlap::None : overlapOf(x.device());
  bool isEven = n % plan.columns == 0 && k == plan.elements();
  Tensor sum = empty(shape, residual.dtype(), x.device());
  shape.back() = n;
  Tensor y = empty(shape, x.dtype(), x.device());
  static const OperatorKernel kernel("linear", "norm_row_kernel");
  kernel[{cdiv(n, plan.columns)}](
      y, sum, table.tensor, orNone(options.xRows), table.count, table.stride,
      otherTable.tensor, orNone(options.residualRows), otherTable.count,
      otherTable.stride, orNone(normWeight), orNone(normBias), weight,
      orNone(bias), n, k, weight.stride(0), options.eps,
      "BLOCK_N"_a = plan.columns, "PARTS"_a = plan.parts,
      "LANES"_a = plan.lanes, "WIDTH"_a = plan.width, "EVEN"_a = isEven,
      "EARLY"_a = int(overlap), "ACTIVATION"_a = nameOf(options.activation),
      "launch_pdl"_a = overlap != Overlap::None, "num_warps"_a = plan.warps,
      "maxnreg"_a = registersOfRows(1));
  return {y, sum};
}
