//===- LayerNorm.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/layer_norm/LayerNorm.h"

#include "kernels/layer_norm/LongRows.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"
#include "kernels/reduce/Reductions.h"
#include "nereid/Autograd/Record.h"

#include <tuple>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// Columns at a time, of rows that are gone over in a loop.
static constexpr int64_t loopBlock = 4096;

static void checkArguments(const Tensor &x, const Tensor &weight,
                           const Tensor &bias, double eps) {
  Checks checks("layer_norm");
  checks.floats("x", x).rank(1, 16);
  Shape row = {x.size(-1)};
  checks.optional("weight", weight).shape(row, "the last dimension of x");
  checks.optional("bias", bias).shape(row, "the last dimension of x");
  checks.require(eps >= 0, "eps", "a number that is not negative", eps);
}

LayerNormResult kernels::layerNormForward(const Tensor &x, const Tensor &weight,
                                          const Tensor &bias, double eps,
                                          bool keepStatistics) {
  checkArguments(x, weight, bias, eps);
  LayerNormResult result;
  if (mixesTypes({x, weight, bias})) {
    result = layerNormForward(inType(x), inType(weight), inType(bias), eps,
                              keepStatistics);
    result.y = result.y.to(x.dtype());
    return result;
  }
  Rows in = rowsOf(x);
  result.y = empty(x.shape(), x.dtype(), x.device());
  if (keepStatistics) {
    result.mean = empty({in.count}, f32, x.device());
    result.rstd = empty({in.count}, f32, x.device());
  }
  if (x.numel() == 0) {
    return result;
  }
  Tensor w = contiguousOrNone(weight), b = contiguousOrNone(bias);
  Argument mean = orNone(result.mean), rstd = orNone(result.rstd);
  RowPlan plan = planRows(in.columns, byteSize(x.dtype()), x.device());
  RowParts parts = partsOfRows(in, loopBlock, x.device());
  if (plan.loops && parts.count > 1) {
    Tensor sums = empty({in.count, parts.count, 2}, f32, x.device());
    static const OperatorKernel some("layer_norm", "layer_norm_parts_kernel"),
        rest("layer_norm", "layer_norm_of_parts_kernel");
    some[{in.count, parts.count}](
        sums, in.tensor, in.stride, in.columns, "SIZE"_a = parts.columns,
        "BLOCK"_a = loopBlock, "num_warps"_a = plan.warps);
    rest[{in.count, parts.count}](
        result.y, in.tensor, sums, orNone(w), orNone(b), mean, rstd, in.columns,
        in.stride, eps, in.columns, "SIZE"_a = parts.columns,
        "PARTS"_a = parts.count, "BLOCK"_a = loopBlock,
        "num_warps"_a = plan.warps);
  } else if (plan.loops) {
    static const OperatorKernel loop("layer_norm", "layer_norm_loop_kernel");
    loop[{in.count}](result.y, in.tensor, orNone(w), orNone(b), mean, rstd,
                     in.columns, in.stride, eps, in.columns,
                     "BLOCK"_a = loopBlock, "num_warps"_a = plan.warps);
  } else if (plan.rowsOfProgram > 1) {
    static const OperatorKernel several("layer_norm", "layer_norm_rows_kernel");
    several[{cdiv(in.count, plan.rowsOfProgram)}](
        result.y, in.tensor, orNone(w), orNone(b), mean, rstd, in.columns,
        in.stride, eps, in.count, "N"_a = in.columns,
        "ROWS"_a = plan.rowsOfProgram, "num_warps"_a = plan.warps);
  } else {
    static const OperatorKernel one("layer_norm", "layer_norm_kernel");
    one[{in.count}](result.y, in.tensor, orNone(w), orNone(b), mean, rstd,
                    in.columns, in.stride, eps, "N"_a = in.columns,
                    "num_warps"_a = plan.warps);
  }
  return result;
}

void kernels::normBackwardInParts(const Tensor &dx, const Rows &dy,
                                  const Rows &x, const Tensor &w,
                                  const Tensor &mean, const Tensor &rstd,
                                  const RowParts &parts) {
  constexpr int warps = 8;
  Tensor sums = empty({x.count, parts.count, 2}, f32, dx.device());
  static const OperatorKernel some("layer_norm",
                                   "layer_norm_backward_parts_kernel"),
      rest("layer_norm", "layer_norm_backward_of_parts_kernel");
  some[{x.count, parts.count}](sums, dy.tensor, x.tensor, orNone(w),
                               orNone(mean), rstd, dy.stride, x.stride,
                               x.columns, "SIZE"_a = parts.columns,
                               "BLOCK"_a = loopBlock, "num_warps"_a = warps);
  rest[{x.count, parts.count}](
      dx, dy.tensor, x.tensor, sums, orNone(w), orNone(mean), rstd, x.columns,
      dy.stride, x.stride, x.columns, "SIZE"_a = parts.columns,
      "PARTS"_a = parts.count, "BLOCK"_a = loopBlock, "num_warps"_a = warps);
}

/// dx of rows that no program's registers hold.
static void backwardInLoops(const Tensor &dx, const Rows &dy, const Rows &x,
                            const Tensor &w, const Tensor &mean,
                            const Tensor &rstd) {
  constexpr int warps = 8;
  RowParts parts = partsOfRows(x, loopBlock, dx.device());
  if (parts.count == 1) {
    static const OperatorKernel loop("layer_norm",
                                     "layer_norm_backward_loop_kernel");
    loop[{x.count}](dx, dy.tensor, x.tensor, orNone(w), mean, rstd, x.columns,
                    dy.stride, x.stride, x.columns, "BLOCK"_a = loopBlock,
                    "num_warps"_a = warps);
    return;
  }
  normBackwardInParts(dx, dy, x, w, mean, rstd, parts);
}

LayerNormGradients kernels::layerNormBackward(
    const Tensor &dy, const Tensor &x, const Tensor &weight, const Tensor &mean,
    const Tensor &rstd, bool wantsWeight, DType biasType, bool wantsBias) {
  checkArguments(x, weight, {}, 0);
  Rows in = rowsOf(x);
  Checks checks("layer_norm backward");
  checks.floats("dy", dy).shape(x.shape(), "that of x");
  checks.floats("mean", mean)
      .shape({in.count}, "rows of x")
      .dtype(f32)
      .contiguous();
  checks.floats("rstd", rstd)
      .shape({in.count}, "rows of x")
      .dtype(f32)
      .contiguous();
  Rows out = rowsOf(dy);
  LayerNormGradients gradients;
  if (mixesTypes({x, weight, dy})) {
    gradients = layerNormBackward(inType(dy), inType(x), inType(weight), mean,
                                  rstd, wantsWeight, biasType, wantsBias);
    gradients.x = gradients.x.to(x.dtype());
    gradients.weight =
        wantsWeight ? gradients.weight.to(weight.dtype()) : Tensor();
    return gradients;
  }
  gradients.x = empty(x.shape(), x.dtype(), x.device());
  int64_t columns = in.columns;
  if (x.numel() == 0) {
    if (wantsWeight) {
      gradients.weight = zeros({columns}, weight.dtype(), x.device());
    }
    if (wantsBias) {
      gradients.bias = zeros({columns}, biasType, x.device());
    }
    return gradients;
  }
  Tensor w = contiguousOrNone(weight);
  // x, dy, and both sums stay in registers.
  RowPlan plan = planRows(columns, byteSize(x.dtype()), x.device(), 4);
  constexpr int64_t columnsOfProgram = 1024;
  int64_t rowBytes =
      columns * int64_t(byteSize(x.dtype()) + byteSize(dy.dtype()));
  int64_t programs = plan.loops
                         ? programsForSumsOf(cdiv(columns, columnsOfProgram),
                                             in.count, x.device())
                         : programsForSums(in.count, x.device(), rowBytes);
  Tensor dw, db;
  if (wantsWeight) {
    dw = empty({programs, columns}, f32, x.device());
  }
  if (wantsBias) {
    db = empty({programs, columns}, f32, x.device());
  }
  if (!plan.loops) {
    static const OperatorKernel whole("layer_norm",
                                      "layer_norm_backward_kernel");
    whole[{programs}](
        gradients.x, orNone(dw), orNone(db), out.tensor, in.tensor, orNone(w),
        mean, rstd, columns, out.stride, in.stride, in.count, "N"_a = columns,
        "AHEAD"_a = x.device().isHost() ? 1 : 3, "num_warps"_a = plan.warps);
  } else {
    backwardInLoops(gradients.x, out, in, w, mean, rstd);
    if (wantsWeight || wantsBias) {
      static const OperatorKernel parts("layer_norm",
                                        "layer_norm_weight_kernel");
      parts[{cdiv(columns, columnsOfProgram), programs}](
          orNone(dw), orNone(db), out.tensor, in.tensor, mean, rstd, out.stride,
          in.stride, in.count, columns, "BLOCK"_a = columnsOfProgram,
          "num_warps"_a = 4);
    }
  }
  std::tie(gradients.weight, gradients.bias) =
      columnSums(dw, wantsWeight ? weight.dtype() : f32, db, biasType);
  return gradients;
}

/// As an expression, which is derived as others are.
static Variable ofDoubles(const Variable &x, const Variable &weight,
                          const Variable &bias, double eps) {
  Checks checks("layer_norm");
  checks.gradients("x", x.value()).rank(1, 16);
  checks.require(eps >= 0, "eps", "a number that is not negative", eps);
  for (auto [name, v] : {std::pair("weight", &weight), {"bias", &bias}}) {
    if (v->defined()) {
      checks.gradients(name, v->value())
          .shape({x.size(-1)}, "the last dimension of x");
    }
  }
  Variable centred = x - mean(x, -1, true);
  Expression y = centred * rsqrt(mean(square(centred), -1, true) + eps);
  if (weight.defined()) {
    y = y * weight;
  }
  if (bias.defined()) {
    y = y + bias;
  }
  return y;
}

Tensor kernels::layerNorm(const Tensor &x, const Tensor &weight,
                          const Tensor &bias, double eps) {
  if (isOfDoubles(x)) {
    return ofDoubles(Variable(x), constant(weight), constant(bias), eps)
        .value();
  }
  return layerNormForward(x, weight, bias, eps, false).y;
}

Variable kernels::layerNorm(const Variable &x, const Variable &weight,
                            const Variable &bias, double eps) {
  if (isOfDoubles(x)) {
    return ofDoubles(x, weight, bias, eps);
  }
  bool keeps = autograd::isRecording({x, weight, bias});
  LayerNormResult result =
      layerNormForward(x.value(), weight.value(), bias.value(), eps, keeps);
  DType biasType = bias.defined() ? bias.dtype() : f32;
  return autograd::record(
      "layer_norm", {x, weight, bias}, result.y,
      [x = x.value(), w = weight.value(), mean = result.mean,
       rstd = result.rstd, biasType](const Tensor &dy, autograd::Needs needs) {
        LayerNormGradients g = layerNormBackward(dy, x, w, mean, rstd, needs[1],
                                                 biasType, needs[2]);
        return autograd::Gradients{g.x, g.weight, g.bias};
      },
      {x.value(), weight.value()});
}

Tensor kernels::fusedBiasLayerNorm(const Tensor &x, const Tensor &added,
                                   const Tensor &weight, const Tensor &bias,
                                   double eps) {
  checkArguments(x, weight, bias, eps);
  Checks checks("fused_bias_layer_norm");
  checks.floats("x", x);
  checks.floats("added", added).shape({x.size(-1)}, "the last dimension of x");
  if (mixesTypes({x, added, weight, bias})) {
    return fusedBiasLayerNorm(inType(x), inType(added), inType(weight),
                              inType(bias), eps)
        .to(x.dtype());
  }
  Rows in = rowsOf(x);
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  if (x.numel() == 0) {
    return y;
  }
  RowPlan plan = planRows(in.columns, byteSize(x.dtype()), x.device());
  Tensor w = contiguousOrNone(weight), b = contiguousOrNone(bias);
  if (plan.loops) {
    static const OperatorKernel loop("layer_norm",
                                     "fused_bias_layer_norm_loop_kernel");
    loop[{in.count}](y, in.tensor, added.contiguous(), orNone(w), orNone(b),
                     in.columns, in.stride, eps, in.columns,
                     "BLOCK"_a = loopBlock, "num_warps"_a = plan.warps);
  } else {
    static const OperatorKernel fused("layer_norm",
                                      "fused_bias_layer_norm_kernel");
    fused[{in.count}](y, in.tensor, added.contiguous(), orNone(w), orNone(b),
                      in.columns, in.stride, eps, "N"_a = in.columns,
                      "num_warps"_a = plan.warps);
  }
  return y;
}
