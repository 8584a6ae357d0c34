//===- Initialise.h - What parameters begin with ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nn::init::normal(linear.weight, 0, 0.02);
//   for (const nn::NamedVariable &one : model.namedParameters()) { ... }
//
// Those of torch.nn.init, by their formulas; the numbers are others. They write
// into the variable's memory. Without a generator each takes the next seed of
// the process (manualSeed).
//
// The fans of a weight [out, in, ...] are in and out, times what is behind.
//
// Errors: InvalidArgument for an undefined variable, for a weight of less than
// two dimensions where fans are asked for, for numbers out of their range.
//
// Source: Glorot, Bengio, "Understanding the difficulty of training deep
// feedforward neural networks", AISTATS 2010; He et al., arXiv 1502.01852.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_MODULE_INITIALISE_H
#define NEREID_KERNELS_MODULE_INITIALISE_H

#include "kernels/module/Generator.h"
#include "nereid/Autograd/Variable.h"

namespace nereid::nn::init {

/// Which fan keeps its variance: that of the forward pass, or of the backward.
enum class FanMode { In, Out };

const Variable &constant(const Variable &x, double value);
inline const Variable &zeros(const Variable &x) { return constant(x, 0); }
inline const Variable &ones(const Variable &x) { return constant(x, 1); }
const Variable &uniform(const Variable &x, double low = 0, double high = 1,
                        Generator *generator = nullptr);
const Variable &normal(const Variable &x, double mean = 0, double deviation = 1,
                       Generator *generator = nullptr);
/// As if drawn again until it is from `low` to `high`, which may be far from
/// the mean.
const Variable &truncatedNormal(const Variable &x, double mean = 0,
                                double deviation = 1, double low = -2,
                                double high = 2,
                                Generator *generator = nullptr);
/// Up to gain * sqrt(6 / (in + out)).
const Variable &xavierUniform(const Variable &x, double gain = 1,
                              Generator *generator = nullptr);
const Variable &xavierNormal(const Variable &x, double gain = 1,
                             Generator *generator = nullptr);
/// For a leaky ReLU of this slope: gain sqrt(2 / (1 + slope^2)). The uniform
/// one with slope sqrt(5) is what layers begin with.
const Variable &kaimingUniform(const Variable &x, double slope = 0,
                               FanMode mode = FanMode::In,
                               Generator *generator = nullptr);
const Variable &kaimingNormal(const Variable &x, double slope = 0,
                              FanMode mode = FanMode::In,
                              Generator *generator = nullptr);

} // namespace nereid::nn::init

#endif // NEREID_KERNELS_MODULE_INITIALISE_H
