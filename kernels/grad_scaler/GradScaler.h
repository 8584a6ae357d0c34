//===- GradScaler.h - Losses scaled for gradients in fp16 -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   GradScaler scaler;
//   ...
//   scaler.scale(loss).backward();
//   scaler.step(optimizer);
//   scaler.update();
//   optimizer.zeroGrad();
//
// Small gradients are 0 in fp16: the loss is multiplied by a number that keeps
// them, and gradients are divided by it before they are used. Where one is not
// finite the step is left out and the scale becomes smaller; after many steps
// that were none of these it grows. The formulas and numbers are those of
// torch.amp.GradScaler; the scale is in the device's memory, and nothing waits
// for it.
//
// With a limit on the norm, gradients are divided first:
//
//   scaler.unscale(optimizer);
//   clipGradNorm(optimizer.variables(), 1.0);
//   scaler.step(optimizer);
//
// Gradients whose norm is known, of several processes say, need no other pass:
//
//   GradScaler::Clipped clipped = scaler.clip(optimizer.gradNorm(), 1.0);
//   optimizer.step(clipped.factor);
//
// An optimiser is an AdamW, an SGD, or anything with `variables()` and
// `step(factor)`. Without `unscale` its step divides, and gradients stay as
// they are.
//
// Source: Micikevicius et al., "Mixed Precision Training", arXiv 1710.03740.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_GRAD_SCALER_GRADSCALER_H
#define NEREID_KERNELS_GRAD_SCALER_GRADSCALER_H

#include "nereid/Autograd/Variable.h"

#include <map>
#include <span>
#include <string>

namespace nereid::kernels {

struct GradScalerOptions {
  double initialScale = 65536, growthFactor = 2, backoffFactor = 0.5;
  int64_t growthInterval = 2000; ///< good steps before it grows
};

class GradScaler {
public:
  /// Throws InvalidArgument where a number is out of its range.
  explicit GradScaler(const GradScalerOptions &options = {});

  /// loss * scale, as fp32.
  Variable scale(const Variable &loss);
  /// Divides the gradients by the scale, where they are. Once between two
  /// updates, and not after the optimiser's step. Not of fp16 gradients, which
  /// would lose what the scale kept: `step` divides those in fp32.
  template <typename Optimizer>
  void unscale(const Optimizer &optimizer) {
    unscaleGradients(&optimizer, optimizer.variables());
  }
  /// The optimiser's step, or none where a gradient is not finite. Once between
  /// two updates.
  template <typename Optimizer>
  void step(Optimizer &optimizer) {
    Tensor factor = factorOf(&optimizer, optimizer.variables());
    if (factor.defined()) {
      optimizer.step(factor);
    }
  }
  struct Clipped {
    Tensor norm, factor; ///< fp32 [1]
  };
  /// In place of `step`, of gradients whose norm is `scaledNorm`, fp32 [1],
  /// with the scale in it. The norm without it, and what the optimiser's step
  /// takes: gradients come to a norm of at most `most`, an infinity for any;
  /// NaN where the norm is not finite. Once between two updates.
  Clipped clip(const Tensor &scaledNorm, double most);
  /// The scale for the next step, after the steps of all optimisers. It stays
  /// a positive number of fp32.
  void update();

  /// Waits for the device.
  double currentScale() const;

  /// What updates change, for checkpoints: fp32 [] and i32 []; undefined before
  /// the first `scale`.
  struct State {
    Tensor scale, goodSteps;
  };
  State state() const { return {scaleNow, goodSteps}; }
  /// The same by name, "scale" and "goodSteps", at any time. Loading copies,
  /// and throws InvalidArgument for numbers that no update leaves; it waits for
  /// the device.
  std::map<std::string, Tensor> stateDict() const;
  void loadStateDict(const std::map<std::string, Tensor> &state);

private:
  void unscaleGradients(const void *optimizer,
                        std::span<const Variable> parameters);
  /// Undefined where there is no gradient.
  Tensor factorOf(const void *optimizer, std::span<const Variable> parameters);
  void beginOn(Device device);
  Tensor find(std::span<const Tensor> gradients, const Tensor &inverse) const;

  GradScalerOptions options;
  Tensor scaleNow, goodSteps; ///< fp32 [], i32 []
  Tensor found;               ///< fp32 [1]: of all optimisers
  /// An optimiser since the last update.
  struct Stage {
    Tensor factor; ///< undefined where there was no gradient
    bool hasStepped = false;
  };
  std::map<const void *, Stage> stages;
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_GRAD_SCALER_GRADSCALER_H
