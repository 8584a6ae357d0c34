//===- Layers.cpp ---------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/module/Layers.h"

#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/group_norm/GroupNorm.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/operator/Checks.h"
#include "kernels/rms_norm/RmsNorm.h"

#include <cmath>

using namespace nereid;
using namespace nereid::nn;
using kernels::Checks;

/// Before memory is taken for it.
static int64_t size(const char *module, const char *name, int64_t value) {
  Checks(module).require(value >= 1, name, "a size from 1 on", value);
  return value;
}

/// `x` has this size along `axis`: said here, where the module is known.
static void checkSize(const char *module, const Variable &x, int axis,
                      int64_t expected) {
  Checks checks(module);
  checks.any("x", x.value());
  if (x.rank() < (axis < 0 ? -axis : axis + 1) || x.size(axis) != expected) {
    checks.fail("x",
                std::to_string(expected) + " elements along dimension " +
                    std::to_string(axis),
                x.value().str());
  }
}

Linear::Linear(int64_t in, int64_t out, const LinearOptions &options) {
  size("Linear", "in", in);
  size("Linear", "out", out);
  weight = add("weight", empty({out, in}, options.dtype, options.device));
  init::kaimingUniform(weight, std::sqrt(5.0));
  if (options.bias) {
    double bound = 1 / std::sqrt(double(in));
    bias = add("bias", empty({out}, options.dtype, options.device));
    init::uniform(bias, -bound, bound);
  }
}

Variable Linear::operator()(const Variable &x,
                            kernels::Activation activation) const {
  checkSize("Linear", x, -1, weight.size(1));
  return kernels::linear(x, weight, bias, activation);
}

Embedding::Embedding(int64_t rows, int64_t width,
                     const EmbeddingOptions &options)
    : padding(options.padding) {
  size("Embedding", "rows", rows);
  size("Embedding", "width", width);
  if (padding) {
    Checks("Embedding")
        .require(*padding >= -rows && *padding < rows, "padding",
                 "a row of weight, which has " + std::to_string(rows),
                 *padding);
    padding = *padding < 0 ? *padding + rows : *padding;
  }
  weight = add("weight", empty({rows, width}, options.dtype, options.device));
  init::normal(weight);
  if (padding) {
    weight.value().select(0, *padding).zero();
  }
}

Variable Embedding::operator()(const Tensor &indices) const {
  return kernels::embedding(indices, weight, padding);
}

/// A parameter of a norm.
static Variable scaleOf(const Module &module, const char *name, int64_t width,
                        double value, DType dtype, Device device) {
  return module.add(name, full({width}, value, dtype, device));
}

LayerNorm::LayerNorm(int64_t width, const LayerNormOptions &options)
    : width(size("LayerNorm", "width", width)), eps(options.eps) {
  if (options.affine) {
    weight = scaleOf(*this, "weight", width, 1, options.dtype, options.device);
    if (options.bias) {
      bias = scaleOf(*this, "bias", width, 0, options.dtype, options.device);
    }
  }
}

Variable LayerNorm::operator()(const Variable &x) const {
  checkSize("LayerNorm", x, -1, width);
  return kernels::layerNorm(x, weight, bias, eps);
}

RmsNorm::RmsNorm(int64_t width, const RmsNormOptions &options)
    : width(size("RmsNorm", "width", width)), eps(options.eps) {
  if (options.affine) {
    weight = scaleOf(*this, "weight", width, 1, options.dtype, options.device);
  }
}

Variable RmsNorm::operator()(const Variable &x) const {
  checkSize("RmsNorm", x, -1, width);
  return kernels::rmsNorm(x, weight, eps);
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels,
                     const LayerNormOptions &options)
    : groups(size("GroupNorm", "groups", groups)),
      channels(size("GroupNorm", "channels", channels)), eps(options.eps) {
  Checks("GroupNorm")
      .require(channels % groups == 0, "channels",
               "a multiple of groups (" + std::to_string(groups) + ")",
               channels);
  if (options.affine) {
    weight =
        scaleOf(*this, "weight", channels, 1, options.dtype, options.device);
    if (options.bias) {
      bias = scaleOf(*this, "bias", channels, 0, options.dtype, options.device);
    }
  }
}

Variable GroupNorm::operator()(const Variable &x) const {
  checkSize("GroupNorm", x, 1, channels);
  return kernels::groupNorm(x, groups, weight, bias, eps);
}

static double probability(const char *module, double p) {
  Checks(module).require(p >= 0 && p < 1, "p",
                         "a probability from 0 to below 1", p);
  return p;
}

Dropout::Dropout(double p, Generator *generator) : p(p), generator(generator) {
  Checks("Dropout").require(p >= 0 && p <= 1, "p", "a probability from 0 to 1",
                            p);
}

Variable Dropout::operator()(const Variable &x) const {
  if (!isTraining() || p == 0) {
    return x;
  }
  uint64_t seed = generator ? generator->next() : nextSeed();
  return kernels::dropout(x, p, int64_t(seed));
}

static Variable projection(const Module &module, int64_t width,
                           const MultiheadAttentionOptions &options) {
  Variable weight =
      module.add("in_proj_weight",
                 empty({3 * width, width}, options.dtype, options.device));
  return init::xavierUniform(weight);
}

MultiheadAttention::MultiheadAttention(int64_t width, int64_t heads,
                                       const MultiheadAttentionOptions &options)
    : inWeight(projection(*this, size("MultiheadAttention", "width", width),
                          options)),
      inBias(options.bias
                 ? add("in_proj_bias",
                       zeros({3 * width}, options.dtype, options.device))
                 : Variable()),
      outProjection(add(
          "out_proj",
          Linear(width, width, {options.bias, options.dtype, options.device}))),
      heads(size("MultiheadAttention", "heads", heads)),
      dropout(probability("MultiheadAttention", options.dropout)) {
  Checks("MultiheadAttention")
      .require(width % heads == 0, "heads",
               "a divisor of the width (" + std::to_string(width) + ")", heads);
  if (options.bias) {
    init::zeros(outProjection.bias);
  }
}

Variable
MultiheadAttention::operator()(const Variable &x,
                               kernels::AttentionOptions options) const {
  checkSize("MultiheadAttention", x, -1, inWeight.size(1));
  options.dropout = {};
  if (isTraining() && dropout > 0) {
    options.dropout.p = dropout;
    options.dropout.seed = int64_t(nextSeed());
  }
  return outProjection(kernels::selfAttention(
      kernels::linear(x, inWeight, inBias), heads, options));
}

Variable Sequential::operator()(const Variable &x) const {
  Variable y = x;
  for (const auto &step : steps) {
    y = step(y);
  }
  return y;
}
