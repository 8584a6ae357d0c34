//===- AddNorm.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/add_norm/AddNorm.h"

#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/layer_norm/LongRows.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "kernels/operator/Rows.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "nereid/Autograd/Record.h"

#include <tuple>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// Columns at a time, of rows that are gone over in a loop.
static constexpr int64_t loopBlock = 2048;

static double scaleOf(const ResidualDropout &dropout) {
  return dropout.p < 1 ? 1 / (1 - dropout.p) : 0;
}

static Argument seedOf(const ResidualDropout &dropout) {
  return dropout.seedOnDevice.defined() ? Argument(dropout.seedOnDevice)
                                        : Argument(dropout.seed);
}

/// With the seed in a tensor, where kernels compiled ahead of time take it.
static ResidualDropout prepared(const ResidualDropout &given, Device device) {
  ResidualDropout dropout = given;
  if (!hasCompiler() && !dropout.seedOnDevice.defined()) {
    dropout.seedOnDevice =
        given.p > 0 ? Tensor::fromVector(std::vector<int64_t>{given.seed},
                                         std::nullopt, device)
                    : empty({1}, i64, device); // not read
  }
  return dropout;
}

static Tensor forward(const char *op, bool centred, const Tensor &x,
                      const Tensor &residual, const Tensor &weight,
                      const Tensor &bias, double eps,
                      const ResidualDropout &given, bool keeps,
                      NormedSum &result) {
  Checks checks(op);
  checks.floats("x", x).rank(1, 16);
  checks.floats("residual", residual).shape(x.shape(), "that of x");
  const int64_t row[] = {x.size(-1)};
  checks.optional("weight", weight).shape(row, "the last dimension of x");
  checks.optional("bias", bias).shape(row, "the last dimension of x");
  checks.require(eps >= 0, "eps", "a number that is not negative", eps);
  checks.require(given.p >= 0 && given.p <= 1, "dropout",
                 "a probability from 0 to 1", given.p);
  if (given.seedOnDevice.defined()) {
    checks.any("seedOnDevice", given.seedOnDevice).shape({1}).dtype(i64);
  }
  ResidualDropout dropout = prepared(given, x.device());
  if (mixesTypes({x, residual, weight, bias})) {
    Tensor y = forward(op, centred, inType(x), inType(residual), inType(weight),
                       inType(bias), eps, dropout, keeps, result)
                   .to(x.dtype());
    if (residual.dtype() != f32) {
      // The norm is that of the rounded sum.
      result.sum = result.sum.to(residual.dtype());
      Tensor rounded = result.sum;
      y = forward(op, centred, zeros(x.shape(), f32, x.device()),
                  inType(rounded), inType(weight), inType(bias), eps, {}, keeps,
                  result)
              .to(x.dtype());
      result.sum = rounded;
      result.dropout = dropout;
    }
    result.weight = contiguousOrNone(weight);
    result.xType = x.dtype();
    result.biasType = bias.defined() ? bias.dtype() : f32;
    return y;
  }
  Rows in = rowsOf(x), other = rowsOf(residual);
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  result.sum = empty(x.shape(), residual.dtype(), x.device());
  result.weight = contiguousOrNone(weight);
  result.dropout = dropout;
  result.xType = x.dtype();
  result.biasType = bias.defined() ? bias.dtype() : f32;
  if (keeps) {
    result.mean = centred ? empty({in.count}, f32, x.device()) : Tensor();
    result.rstd = empty({in.count}, f32, x.device());
  }
  if (x.numel() == 0) {
    return y;
  }
  Tensor b = contiguousOrNone(bias),
         w = orFilled(result.weight, in.columns, 1, x.dtype(), x.device());
  RowPlan plan = planRows(in.columns, byteSize(x.dtype()), x.device(), 2);
  if (plan.loops) {
    static const OperatorKernel loop("add_norm", "add_norm_loop_kernel");
    loop[{in.count}](y, result.sum, in.tensor, other.tensor, orNone(w),
                     orNone(b), orNone(result.mean), orNone(result.rstd),
                     in.stride, other.stride, eps, dropout.p, scaleOf(dropout),
                     seedOf(dropout), dropout.offset, in.columns,
                     "BLOCK"_a = loopBlock, "CENTRED"_a = centred,
                     "DROPS"_a = dropout.p > 0, "num_warps"_a = plan.warps);
  } else {
    bool early = !isCopied(weight, result.weight) && !isCopied(bias, b) &&
                 beginsEarly(x.device());
    static const OperatorKernel whole("add_norm", "add_norm_kernel");
    whole[{in.count}](y, result.sum, in.tensor, other.tensor,
                      orNone(result.weight), orNone(b), orNone(result.mean),
                      orNone(result.rstd), in.stride, other.stride, eps,
                      dropout.p, scaleOf(dropout), seedOf(dropout),
                      dropout.offset, "N"_a = in.columns, "CENTRED"_a = centred,
                      "DROPS"_a = dropout.p > 0, "EARLY"_a = early,
                      "launch_pdl"_a = early, "num_warps"_a = plan.warps);
  }
  return y;
}

AddNormGradients kernels::addNormBackward(const Tensor &dy, const Tensor &dsum,
                                          const NormedSum &of, bool wantsWeight,
                                          bool wantsBias) {
  const Tensor &sum = of.sum;
  Checks checks("add_norm backward");
  checks.floats("sum", sum).rank(1, 16);
  checks.optional("dy", dy).shape(sum.shape(), "that of sum");
  checks.optional("dsum", dsum).shape(sum.shape(), "that of sum");
  if (mixesTypes({sum, dy, dsum, of.weight}) ||
      (!hasCompiler() && of.xType != sum.dtype())) {
    NormedSum wide = of;
    wide.sum = inType(sum);
    wide.weight = inType(of.weight);
    wide.xType = f32;
    AddNormGradients g =
        addNormBackward(inType(dy), inType(dsum), wide, wantsWeight, wantsBias);
    return {g.x.to(of.xType), g.residual.to(sum.dtype()),
            wantsWeight ? g.weight.to(of.weight.dtype()) : Tensor(), g.bias};
  }
  bool centred = of.mean.defined(), drops = of.dropout.p > 0;
  int64_t columns = sum.size(-1);
  Device device = sum.device();
  AddNormGradients g;
  g.residual = empty(sum.shape(), sum.dtype(), device);
  bool apart = drops || of.xType != sum.dtype();
  Tensor dx = apart ? empty(sum.shape(), of.xType, device) : Tensor();
  g.x = apart ? dx : g.residual;
  if (sum.numel() == 0) {
    g.weight =
        wantsWeight ? zeros({columns}, of.weight.dtype(), device) : Tensor();
    g.bias = wantsBias ? zeros({columns}, of.biasType, device) : Tensor();
    return g;
  }
  Rows in = rowsOf(sum);
  Rows out = rowsOf(dy.defined() ? dy : zeros(sum.shape(), of.xType, device));
  Rows added = dsum.defined() ? rowsOf(dsum) : Rows();
  RowPlan plan = planRows(columns, byteSize(sum.dtype()), device, 4);
  int64_t rowBytes =
      columns * (byteSize(sum.dtype()) + byteSize(out.tensor.dtype()) +
                 (dsum.defined() ? byteSize(dsum.dtype()) : 0));
  constexpr int64_t columnsOfProgram = 1024;
  int64_t programs =
      plan.loops
          ? programsForSumsOf(cdiv(columns, columnsOfProgram), in.count, device)
          : programsForSums(in.count, device, rowBytes);
  // A kernel compiled ahead of time sums for the weight, too.
  bool sumsWeight = wantsWeight || (wantsBias && !hasCompiler());
  Tensor dw = sumsWeight ? empty({programs, columns}, f32, device) : Tensor();
  Tensor db = wantsBias ? empty({programs, columns}, f32, device) : Tensor();
  ResidualDropout d = prepared(of.dropout, device);
  if (!plan.loops) {
    static const OperatorKernel whole("add_norm", "add_norm_backward_kernel");
    whole[{programs}](
        orNone(dx), g.residual, orNone(dw), orNone(db), out.tensor,
        orNone(added.tensor), in.tensor, orNone(of.weight), orNone(of.mean),
        of.rstd, out.stride, added.stride, in.stride, d.p, scaleOf(d),
        seedOf(d), d.offset, in.count, "N"_a = columns,
        "AHEAD"_a = device.isHost() ? 1 : 3, "CENTRED"_a = centred,
        "DROPS"_a = drops, "num_warps"_a = plan.warps);
  } else if (RowParts pieces = partsOfRows(in, loopBlock, device);
             pieces.count > 1 && !apart && !dsum.defined()) {
    normBackwardInParts(g.residual, out, in, of.weight, of.mean, of.rstd,
                        pieces);
  } else {
    static const OperatorKernel loop("add_norm",
                                     "add_norm_backward_loop_kernel");
    Tensor w = orFilled(of.weight, columns, 1, sum.dtype(), device);
    loop[{in.count}](orNone(dx), g.residual, out.tensor, orNone(added.tensor),
                     in.tensor, orNone(w), orNone(of.mean), of.rstd, out.stride,
                     added.stride, in.stride, d.p, scaleOf(d), seedOf(d),
                     d.offset, columns, "BLOCK"_a = loopBlock,
                     "CENTRED"_a = centred, "DROPS"_a = drops,
                     "num_warps"_a = plan.warps);
  }
  if (plan.loops && (wantsWeight || wantsBias)) {
    static const OperatorKernel parts("add_norm", "add_norm_weight_kernel");
    parts[{cdiv(columns, columnsOfProgram), programs}](
        orNone(dw), orNone(db), out.tensor, in.tensor, orNone(of.mean), of.rstd,
        out.stride, in.stride, in.count, columns, "BLOCK"_a = columnsOfProgram,
        "CENTRED"_a = centred, "num_warps"_a = 4);
  }
  dw = wantsWeight ? dw : Tensor();
  std::tie(g.weight, g.bias) =
      columnSums(dw, wantsWeight ? of.weight.dtype() : f32, db, of.biasType);
  return g;
}

/// As expressions, which are derived as others are.
static std::pair<Variable, Variable>
ofDoubles(const char *op, bool centred, const Variable &x,
          const Variable &residual, const Variable &weight,
          const Variable &bias, double eps, const ResidualDropout &given) {
  Checks checks(op);
  checks.gradients("x", x.value()).rank(1, 16);
  checks.gradients("residual", residual.value())
      .shape(x.shape(), "that of x")
      .dtype(f64, "as x has");
  checks.require(given.p >= 0 && given.p <= 1, "dropout",
                 "a probability from 0 to 1", given.p);
  int64_t seed = given.seed;
  if (given.seedOnDevice.defined()) {
    checks.any("seedOnDevice", given.seedOnDevice).shape({1}).dtype(i64);
    seed = given.seedOnDevice.toVector<int64_t>()[0];
  }
  Variable sum = given.p > 0
                     ? residual + dropout(x, given.p, seed, given.offset)
                     : x + residual;
  return {centred ? layerNorm(sum, weight, bias, eps)
                  : rmsNorm(sum, weight, eps),
          sum};
}

/// The same of tensors.
static std::pair<Tensor, Tensor>
ofDoubles(const char *op, bool centred, const Tensor &x, const Tensor &residual,
          const Tensor &weight, const Tensor &bias, double eps,
          const ResidualDropout &dropout) {
  auto [y, sum] = ofDoubles(op, centred, constant(x), constant(residual),
                            constant(weight), constant(bias), eps, dropout);
  return {y.value(), sum.value()};
}

static std::pair<Variable, Variable>
recorded(const char *op, bool centred, const Variable &x,
         const Variable &residual, const Variable &weight, const Variable &bias,
         double eps, const ResidualDropout &dropout) {
  if (isOfDoubles(x)) {
    return ofDoubles(op, centred, x, residual, weight, bias, eps, dropout);
  }
  const Variable inputs[] = {x, residual, weight, bias};
  NormedSum kept;
  bool records = autograd::isRecording(inputs);
  Tensor y = forward(op, centred, x.value(), residual.value(), weight.value(),
                     bias.value(), eps, dropout, records, kept);
  if (!records) {
    return {Variable(std::move(y)), Variable(std::move(kept.sum))};
  }
  std::vector<Variable> outputs = autograd::record(
      op, inputs, {y, kept.sum},
      [kept](std::span<const Tensor> d, autograd::Needs needs) {
        AddNormGradients g =
            addNormBackward(d[0], d[1], kept, needs[2], needs[3]);
        return autograd::Gradients{needs[0] ? g.x : Tensor(),
                                   needs[1] ? g.residual : Tensor(), g.weight,
                                   g.bias};
      },
      {kept.sum, kept.weight});
  return {outputs[0], outputs[1]};
}

std::pair<Tensor, Tensor>
kernels::addLayerNorm(const Tensor &x, const Tensor &residual,
                      const Tensor &weight, const Tensor &bias, double eps,
                      const ResidualDropout &dropout) {
  if (isOfDoubles(x)) {
    return ofDoubles("add_layer_norm", true, x, residual, weight, bias, eps,
                     dropout);
  }
  NormedSum result;
  Tensor y = forward("add_layer_norm", true, x, residual, weight, bias, eps,
                     dropout, false, result);
  return {y, result.sum};
}

std::pair<Variable, Variable>
kernels::addLayerNorm(const Variable &x, const Variable &residual,
                      const Variable &weight, const Variable &bias, double eps,
                      const ResidualDropout &dropout) {
  return recorded("add_layer_norm", true, x, residual, weight, bias, eps,
                  dropout);
}

std::pair<Tensor, Tensor> kernels::addRmsNorm(const Tensor &x,
                                              const Tensor &residual,
                                              const Tensor &weight, double eps,
                                              const ResidualDropout &dropout) {
  if (isOfDoubles(x)) {
    return ofDoubles("add_rms_norm", false, x, residual, weight, Tensor(), eps,
                     dropout);
  }
  NormedSum result;
  Tensor y = forward("add_rms_norm", false, x, residual, weight, {}, eps,
                     dropout, false, result);
  return {y, result.sum};
}

std::pair<Variable, Variable>
kernels::addRmsNorm(const Variable &x, const Variable &residual,
                    const Variable &weight, double eps,
                    const ResidualDropout &dropout) {
  return recorded("add_rms_norm", false, x, residual, weight, {}, eps, dropout);
}
