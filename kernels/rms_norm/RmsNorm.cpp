//===- RmsNorm.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/rms_norm/RmsNorm.h"

#include "kernels/add_norm/AddNorm.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"
#include "kernels/reduce/Reductions.h"
#include "nereid/Autograd/Record.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// `rstd`: filled in where it is not null.
static Tensor forward(const Tensor &x, const Tensor &weight, double eps,
                      Tensor *rstd) {
  Checks checks("rms_norm");
  checks.floats("x", x).rank(1, 16);
  checks.optional("weight", weight)
      .shape({x.size(-1)}, "the last dimension of x");
  checks.require(eps >= 0, "eps", "a number that is not negative", eps);
  if (mixesTypes({x, weight})) {
    return forward(inType(x), inType(weight), eps, rstd).to(x.dtype());
  }
  Rows in = rowsOf(x);
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  if (rstd) {
    *rstd = empty({in.count}, f32, x.device());
  }
  if (x.numel() == 0) {
    return y;
  }
  Tensor w = contiguousOrNone(weight);
  Argument kept = rstd ? orNone(*rstd) : Argument(none);
  RowPlan plan = planRows(in.columns, byteSize(x.dtype()), x.device());
  constexpr int64_t loopBlock = 4096;
  RowParts parts = partsOfRows(in, loopBlock, x.device());
  if (plan.loops && parts.count > 1) {
    Tensor sums = empty({in.count, parts.count}, f32, x.device());
    static const OperatorKernel some("rms_norm", "rms_norm_parts_kernel"),
        rest("rms_norm", "rms_norm_of_parts_kernel");
    some[{in.count, parts.count}](
        sums, in.tensor, in.stride, in.columns, "SIZE"_a = parts.columns,
        "BLOCK"_a = loopBlock, "num_warps"_a = plan.warps);
    rest[{in.count, parts.count}](
        y, in.tensor, sums, orNone(w), kept, in.columns, in.stride, eps,
        in.columns, "SIZE"_a = parts.columns, "PARTS"_a = parts.count,
        "BLOCK"_a = loopBlock, "num_warps"_a = plan.warps);
  } else if (plan.loops) {
    static const OperatorKernel loop("rms_norm", "rms_norm_loop_kernel");
    loop[{in.count}](y, in.tensor, orNone(w), kept, in.columns, in.stride, eps,
                     in.columns, "BLOCK"_a = loopBlock,
                     "num_warps"_a = plan.warps);
  } else if (plan.rowsOfProgram > 1) {
    static const OperatorKernel several("rms_norm", "rms_norm_rows_kernel");
    several[{cdiv(in.count, plan.rowsOfProgram)}](
        y, in.tensor, orNone(w), kept, in.columns, in.stride, eps, in.count,
        "N"_a = in.columns, "ROWS"_a = plan.rowsOfProgram,
        "num_warps"_a = plan.warps);
  } else {
    static const OperatorKernel one("rms_norm", "rms_norm_kernel");
    one[{in.count}](y, in.tensor, orNone(w), kept, in.columns, in.stride, eps,
                    "N"_a = in.columns, "num_warps"_a = plan.warps);
  }
  return y;
}

/// As an expression, which is derived as others are.
static Variable ofDoubles(const Variable &x, const Variable &weight,
                          double eps) {
  Checks checks("rms_norm");
  checks.gradients("x", x.value()).rank(1, 16);
  checks.require(eps >= 0, "eps", "a number that is not negative", eps);
  Expression y = x * rsqrt(mean(square(x), -1, true) + eps);
  if (!weight.defined()) {
    return y;
  }
  checks.gradients("weight", weight.value())
      .shape({x.size(-1)}, "the last dimension of x");
  return y * weight;
}

Tensor kernels::rmsNorm(const Tensor &x, const Tensor &weight, double eps) {
  if (isOfDoubles(x)) {
    return ofDoubles(Variable(x), constant(weight), eps).value();
  }
  return forward(x, weight, eps, nullptr);
}

Variable kernels::rmsNorm(const Variable &x, const Variable &weight,
                          double eps) {
  if (isOfDoubles(x)) {
    return ofDoubles(x, weight, eps);
  }
  // The sum of nothing and x: its norm has the gradients of addRmsNorm.
  NormedSum kept;
  bool keeps = autograd::isRecording({x, weight});
  Tensor y =
      forward(x.value(), weight.value(), eps, keeps ? &kept.rstd : nullptr);
  kept.sum = x.value();
  kept.weight = contiguousOrNone(weight.value());
  kept.xType = y.dtype();
  return autograd::record("rms_norm", {x, weight}, y,
                          [kept](const Tensor &dy, autograd::Needs needs) {
                            AddNormGradients g =
                                addNormBackward(dy, {}, kept, needs[1], false);
                            return autograd::Gradients{g.x, g.weight};
                          },
                          {x.value(), weight.value()});
}
