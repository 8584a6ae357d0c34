//===- GradScaler.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/grad_scaler/GradScaler.h"

#include "kernels/expression/Expression.h"
#include "kernels/gradients/Gradients.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

GradScaler::GradScaler(const GradScalerOptions &options) : options(options) {
  Checks checks("gradScaler");
  checks.require(
      options.initialScale > 0 && std::isfinite(float(options.initialScale)),
      "initialScale", "a positive number of fp32", options.initialScale);
  checks.require(options.growthFactor > 1 &&
                     std::isfinite(options.growthFactor),
                 "growthFactor", "a number above 1", options.growthFactor);
  checks.require(options.backoffFactor > 0 && options.backoffFactor < 1,
                 "backoffFactor", "a number between 0 and 1",
                 options.backoffFactor);
  checks.require(
      options.growthInterval >= 1 && options.growthInterval <= INT32_MAX,
      "growthInterval", "a number of steps from 1 on", options.growthInterval);
}

Variable GradScaler::scale(const Variable &loss) {
  Checks("gradScaler").floats("loss", loss.value());
  if (!scaleNow.defined()) {
    scaleNow = full({}, options.initialScale, f32, loss.device());
    goodSteps = zeros({}, i32, loss.device());
    found = zeros({1}, f32, loss.device());
  }
  return cast(loss, f32) * Expression(scaleNow);
}

/// The factor of a step, NaN where a gradient is not finite; `inverse` is
/// filled.
Tensor GradScaler::find(std::span<const Tensor> gradients,
                        const Tensor &inverse) const {
  Tensor parts = gradients::squares(gradients);
  Tensor factor = empty({1}, f32, parts.device());
  static const OperatorKernel kernel("gradients", "find_kernel");
  kernel[{1}](found, factor, inverse, parts, parts.numel(), scaleNow,
              "BLOCK"_a = 4096, "num_warps"_a = 8);
  return factor;
}

static void requireScaled(const Tensor &scale, const char *call) {
  if (!scale.defined()) {
    Checks("gradScaler").fail(call, "a loss that was scaled before", "none");
  }
}

void GradScaler::unscaleGradients(const void *optimizer,
                                  std::span<const Variable> parameters) {
  requireScaled(scaleNow, "unscale");
  if (unscaled.contains(optimizer)) {
    Checks("gradScaler").fail("unscale", "one call between two updates", "two");
  }
  std::vector<Tensor> all = gradients::of("gradScaler", parameters);
  Tensor factor;
  if (!all.empty()) {
    Tensor inverse = empty({1}, f32, scaleNow.device());
    factor = find(all, inverse);
    gradients::scale(all, inverse);
  }
  unscaled[optimizer] = factor;
}

Tensor GradScaler::factorOf(const void *optimizer,
                            std::span<const Variable> parameters) {
  requireScaled(scaleNow, "step");
  if (auto own = unscaled.find(optimizer); own != unscaled.end()) {
    Tensor factor = own->second;
    if (factor.defined()) {
      static const OperatorKernel kernel("gradients", "applied_kernel");
      kernel[{1}](factor, "num_warps"_a = 1);
    }
    return factor;
  }
  std::vector<Tensor> all = gradients::of("gradScaler", parameters);
  return all.empty() ? Tensor() : find(all, empty({1}, f32, scaleNow.device()));
}

void GradScaler::update() {
  requireScaled(scaleNow, "update");
  static const OperatorKernel kernel("gradients", "update_kernel");
  kernel[{1}](scaleNow, goodSteps, found, options.growthFactor,
              options.backoffFactor, int32_t(options.growthInterval),
              "num_warps"_a = 1);
  scaleNow.noteWrite();
  goodSteps.noteWrite();
  unscaled.clear();
}

double GradScaler::currentScale() const {
  return scaleNow.defined() ? scaleNow.item() : options.initialScale;
}
