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
#include "kernels/operator/CopyByName.h"
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

/// A model may move to another device, and the scale with it.
void GradScaler::beginOn(Device device) {
  if (!scaleNow.defined()) {
    scaleNow = full({}, options.initialScale, f32, device);
    goodSteps = zeros({}, i32, device);
  }
  if (!found.defined()) {
    found = zeros({1}, f32, device);
  }
  for (Tensor *one : {&scaleNow, &goodSteps, &found}) {
    *one = one->to(device);
  }
}

Variable GradScaler::scale(const Variable &loss) {
  Checks("gradScaler").floats("loss", loss.value());
  beginOn(loss.device());
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
  Checks checks("gradScaler");
  requireScaled(scaleNow, "unscale");
  if (auto stage = stages.find(optimizer); stage != stages.end()) {
    checks.fail("unscale", "one call between two updates, before the step",
                stage->second.hasStepped ? "one behind the step" : "two");
  }
  std::vector<Tensor> all = gradients::of("gradScaler", parameters);
  for (const Tensor &one : all) {
    if (one.dtype() == f16) {
      checks.fail("gradient", "fp32 or bf16 to divide where it is",
                  one.str() +
                      "; hint: fp16 loses what the scale kept: step "
                      "divides in fp32, or setGrad gives a sum of fp32");
    }
  }
  Tensor factor;
  if (!all.empty()) {
    Tensor inverse = empty({1}, f32, scaleNow.device());
    factor = find(all, inverse);
    gradients::scale(all, inverse);
  }
  stages[optimizer] = {factor, false};
}

Tensor GradScaler::factorOf(const void *optimizer,
                            std::span<const Variable> parameters) {
  requireScaled(scaleNow, "step");
  if (auto own = stages.find(optimizer); own != stages.end()) {
    Stage &stage = own->second;
    if (stage.hasStepped) {
      Checks("gradScaler").fail("step", "one call between two updates", "two");
    }
    if (stage.factor.defined()) {
      static const OperatorKernel kernel("gradients", "applied_kernel");
      kernel[{1}](stage.factor, "num_warps"_a = 1);
    }
    stage.hasStepped = true;
    return stage.factor;
  }
  std::vector<Tensor> all = gradients::of("gradScaler", parameters);
  Tensor factor =
      all.empty() ? Tensor() : find(all, empty({1}, f32, scaleNow.device()));
  stages[optimizer] = {factor, true};
  return factor;
}

GradScaler::Clipped GradScaler::clip(const Tensor &scaledNorm, double most) {
  Checks checks("gradScaler");
  requireScaled(scaleNow, "clip");
  checks.floats("scaledNorm", scaledNorm).shape({1}).dtype(f32);
  checks.require(most > 0, "most", "a positive number", most);
  if (stages.contains(nullptr)) {
    checks.fail("clip", "one call between two updates", "two");
  }
  Device device = scaleNow.device();
  Clipped result = {empty({1}, f32, device), empty({1}, f32, device)};
  static const OperatorKernel kernel("gradients", "clip_scaled_kernel");
  kernel[{1}](found, result.norm, result.factor, scaledNorm, scaleNow, most,
              "num_warps"_a = 1);
  stages[nullptr] = {result.factor, true};
  return result;
}

void GradScaler::update() {
  requireScaled(scaleNow, "update");
  if (stages.empty()) {
    Checks("gradScaler").fail("update", "a step or an unscale before", "none");
  }
  static const OperatorKernel kernel("gradients", "update_kernel");
  kernel[{1}](scaleNow, goodSteps, found, options.growthFactor,
              options.backoffFactor, int32_t(options.growthInterval),
              "num_warps"_a = 1);
  scaleNow.noteWrite();
  goodSteps.noteWrite();
  stages.clear();
}

double GradScaler::currentScale() const {
  return scaleNow.defined() ? scaleNow.item() : options.initialScale;
}

std::map<std::string, Tensor> GradScaler::stateDict() const {
  if (scaleNow.defined()) {
    return {{"scale", scaleNow}, {"goodSteps", goodSteps}};
  }
  return {{"scale", full({}, options.initialScale, f32, Device::cpu())},
          {"goodSteps", zeros({}, i32, Device::cpu())}};
}

void GradScaler::loadStateDict(const std::map<std::string, Tensor> &state) {
  std::map<std::string, Tensor> into = stateDict();
  const char *call = "loadStateDict", *owner = "the gradient scaler",
             *hint = "they are those of stateDict";
  checkByName(call, owner, hint, into, state, /*strict=*/true);
  double scale = state.at("scale").to(f32).item(),
         steps = state.at("goodSteps").item();
  Checks checks("gradScaler");
  checks.require(scale > 0 && std::isfinite(scale), "scale",
                 "a positive number of fp32", scale);
  checks.require(steps >= 0 && steps <= INT32_MAX, "goodSteps",
                 "a number of steps from 0 on", steps);
  copyByName(call, owner, hint, into, state, /*strict=*/true);
  scaleNow = into.at("scale");
  goodSteps = into.at("goodSteps");
}
