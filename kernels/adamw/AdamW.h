//===- AdamW.h - The optimiser, over all tensors at once --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   AdamW optimizer(weights, {.learningRate = 3e-4});
//   ...
//   loss.backward();
//   optimizer.step(optimizer.clipFactor(1.0));
//   optimizer.zeroGrad();
//
// Formula:      g = factor * gradient; m = b1 m + (1 - b1) g;
//               v = b2 v + (1 - b2) g^2; w = w (1 - rate * decay) -
//               rate / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + eps), where t
//               counts the steps in which the parameter had a gradient
// Shapes:       parameters of any shape, row-major
// Types:        parameters of fp32, fp16, bf16; m and v fp32; arithmetic fp32;
//               parameters that are not fp32 have fp32 master weights if asked;
//               gradients have the parameter's type, or are fp32 sums
// Gradients:    none
// Memory:       8 bytes an element for m and v, 4 for master weights; one
//               launch reads and writes all tensors of one type
// Determinism:  the same bits in each run on one device; squares of the norm
//               are added in float64, so that the norm rounds alike however
//               gradients are cut into tensors
// Source:       Loshchilov, Hutter, "Decoupled Weight Decay Regularization",
//               arXiv 1711.05101
//
// Master weights follow: where a parameter is no longer its master rounded
// (fill, copyFrom, setValue), the parameter is what the next step starts from.
//
// Parameters may move to another device or type (Module::to): the state follows
// with the next step, and with it what stateDict and moments gave. Masters
// begin with the parameters' new values.
//
// A step is checked for all parameters before it changes one.
//
// A step whose factor is not finite changes nothing, on the device. Factors of
// clipFactor are NaN where the norm of the gradients is not finite, so that one
// bad batch leaves weights and state as they are; `norm` tells.
//
// Learning rate and step live in the device's memory, and nothing waits for the
// host: a step may be captured in a Graph, if a step was taken before and
// `zeroGrad` keeps the gradients where they are. The same parameters have
// gradients then as at the capture: a replay counts no others' steps.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ADAMW_ADAMW_H
#define NEREID_KERNELS_ADAMW_ADAMW_H

#include "nereid/Autograd/Variable.h"

#include <map>
#include <span>
#include <string>

namespace nereid::kernels {

struct AdamWOptions {
  double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8,
         weightDecay = 0.01;
  bool masterWeights = true;
};

struct ClippedNorm {
  Tensor norm, factor; ///< fp32 [1]
};

class AdamW {
public:
  /// Throws InvalidArgument where a number is out of its range.
  explicit AdamW(const AdamWOptions &options = {});
  /// Those among them that require a gradient.
  explicit AdamW(std::span<const Variable> parameters,
                 const AdamWOptions &options = {});

  /// A leaf that requires a gradient; one device for all, and each once.
  void add(const Variable &parameter) { add(parameter, options.weightDecay); }
  void add(const Variable &parameter, double weightDecay);
  std::vector<Variable> variables() const;

  /// Parameters without a gradient stay as they are. `factor`: an fp32 number
  /// in the device's memory that gradients are multiplied with; a step whose
  /// factor is not finite changes nothing.
  void step(const Tensor &factor = {});
  /// The 2-norm of all gradients as one, fp32 [1] on their device.
  Tensor gradNorm();
  /// min(1, most / (norm + 1e-6)), or NaN where the norm is not finite: what
  /// `step` takes.
  Tensor clipFactor(double most);
  /// Both, of one pass over the gradients. Undefined without parameters.
  ClippedNorm clippedNorm(double most);
  /// Throws InvalidArgument where the norm is not finite, and names a parameter
  /// whose gradient is not. The host waits for the device.
  void requireFiniteGradients();
  /// The square of the norm, f64 [1]: for gradients that several optimisers
  /// hold, whose squares are added.
  Tensor gradSquares();
  /// The norm of gradients whose squares are `squares` in sum, f64 [n].
  static ClippedNorm clippedNormOf(const Tensor &squares, double most);
  /// Uploads the table of addresses where one has changed: what `step` does
  /// first, and what a Graph cannot record.
  void prepare() {
    follow();
    currentGroups();
  }
  /// Fills gradients with zeros, where they are.
  void zeroGrad() const;

  /// Throws InvalidArgument unless it is a number from 0 on.
  void setLearningRate(double rate);
  double learningRate() const { return options.learningRate; }

  /// What steps change beside the parameters, by name and the place of the
  /// parameter ("m.0", "v.0", "powers" ...): the optimiser's own memory.
  /// Loading copies into it, and throws InvalidArgument as
  /// Module::loadStateDict does. The learning rate is not part of it.
  std::map<std::string, Tensor> stateDict() const;
  void loadStateDict(const std::map<std::string, Tensor> &state);

  /// The same as tensors, for checkpoints: the optimiser's
  /// own memory, so that values that are copied into it are a state to go on
  /// from. In the order of `add`; `master` is undefined where there is none.
  /// `powers`: beta1^t and beta2^t, f64 [2], of a parameter that has missed a
  /// step, until another misses its first; undefined of all others, which have
  /// those of the optimiser.
  struct Moments {
    Tensor m, v, master, powers;
  };
  std::vector<Moments> moments() const;
  /// Master weights become the parameters' values as they are now, also where
  /// those are the masters rounded.
  void resetMasters();
  /// beta1^t and beta2^t after t steps, f64 [2]; undefined without parameters.
  Tensor powers() const;

private:
  struct Parameter {
    Variable variable;
    double decay;
    Tensor m, v, master;
    /// 0: the optimiser's steps; else row clock - 1 of `late`.
    int64_t clock = 0;
  };
  /// Parameters that one launch takes: those of one type, whose gradients have
  /// one type.
  struct Group {
    DType dtype = f32, gradient = f32;
    bool masters = false, aligned = true;
    std::vector<int64_t> onHost; ///< the table as it was uploaded
    Tensor table, decays, chunks;
  };

  /// Checks what a step takes, and brings the state to where parameters are.
  void follow();
  const std::vector<Group> &currentGroups();
  void stepOnHost(const Tensor &factor) const;
  void addClock(Parameter &parameter, const Tensor &powers);
  void findLateParameters();
  void advance(const Tensor &factor);
  Tensor squaresOfChunks();

  AdamWOptions options;
  std::vector<Parameter> parameters;
  std::vector<Group> groups;
  Tensor state;   ///< f64 [5]: rate, betas, their powers
  Tensor late;    ///< the same of parameters that missed steps; or undefined
  Tensor factors; ///< fp32 [1 + late ones, 3]
  Tensor one;     ///< fp32 [1]
  Tensor running; ///< i64: the late ones that have a gradient
  std::vector<int64_t> runningOnHost;
  std::vector<Tensor> replaced; ///< what a captured step may refer to
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ADAMW_ADAMW_H
