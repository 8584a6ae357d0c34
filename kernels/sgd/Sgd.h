//===- Sgd.h - Gradient descent with momentum -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   SGD optimizer(model.parameters(), {.learningRate = 0.1, .momentum = 0.9});
//   ...
//   loss.backward();
//   optimizer.step();
//   optimizer.zeroGrad();
//
// Formula:      g = factor * gradient + decay * w; m = momentum * m +
//               (1 - dampening) * g, in the first step of a parameter m = g;
//               w = w - rate * m, with nesterov w - rate * (g + momentum * m);
//               without momentum w - rate * g
// Shapes:       parameters of any shape, row-major
// Types:        parameters of fp32, fp16, bf16; m fp32; arithmetic fp32;
//               parameters that are not fp32 have fp32 master weights if asked;
//               gradients have the parameter's type, or are fp32 sums
// Gradients:    none
// Memory:       4 bytes an element for m where there is momentum, 4 for master
//               weights; one launch for each tensor
// Determinism:  the same bits in each run on one device
// Source:       Sutskever et al., "On the importance of initialization and
//               momentum in deep learning", ICML 2013, in the form of
//               torch.optim.SGD
//
// Factors and master weights are those of AdamW.h: a step whose factor is not
// finite changes nothing, and the state follows parameters that moved.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SGD_SGD_H
#define NEREID_KERNELS_SGD_SGD_H

#include "nereid/Autograd/Variable.h"

#include <map>
#include <span>
#include <string>

namespace nereid::kernels {

struct SGDOptions {
  double learningRate = 1e-3, momentum = 0, dampening = 0, weightDecay = 0;
  bool nesterov = false; ///< needs momentum, and no dampening
  bool masterWeights = true;
};

class SGD {
public:
  /// Throws InvalidArgument where a number is out of its range.
  explicit SGD(const SGDOptions &options = {});
  /// Those among them that require a gradient.
  explicit SGD(std::span<const Variable> parameters,
               const SGDOptions &options = {});

  /// A leaf that requires a gradient; one device for all, and each once.
  void add(const Variable &parameter) { add(parameter, options.weightDecay); }
  void add(const Variable &parameter, double weightDecay);
  std::vector<Variable> variables() const;

  /// Parameters without a gradient stay as they are. `factor`: an fp32 number
  /// in the device's memory, [1], that gradients are multiplied with.
  void step(const Tensor &factor = {});
  /// Fills gradients with zeros, where they are.
  void zeroGrad() const;

  /// Throws InvalidArgument unless it is a number from 0 on.
  void setLearningRate(double rate);
  double learningRate() const { return options.learningRate; }

  /// What steps change beside the parameters, by name and the place of the
  /// parameter ("momentum.0", "started.0" ...): the optimiser's own memory.
  /// Loading copies into it, and throws InvalidArgument as
  /// Module::loadStateDict does. The learning rate is not part of it.
  std::map<std::string, Tensor> stateDict() const;
  void loadStateDict(const std::map<std::string, Tensor> &state);

  /// The same as tensors, for checkpoints: the optimiser's
  /// own memory, in the order of `add`. `momentum` is undefined without,
  /// `master` where there is none. `started`: i32 [1], 0 until the first step.
  struct Moments {
    Tensor momentum, master, started;
  };
  std::vector<Moments> moments() const;

private:
  void follow();

  struct Parameter {
    Variable variable;
    double decay;
    Moments moments;
  };

  SGDOptions options;
  std::vector<Parameter> parameters;
  Tensor rate, one; ///< fp32 [1]
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_SGD_SGD_H
