//===- Layers.h - Modules of the operators ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nn::Linear layer(768, 3072, {.bias = false});
//   Variable y = layer(x);                 // [..., 768] -> [..., 3072]
//
// Names, shapes and first values of parameters are those of torch.nn, so that
// weights go from one to the other. Tensors and expressions are taken where a
// variable is.
//
// Errors: InvalidArgument for sizes below 1, and those of the operators.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_MODULE_LAYERS_H
#define NEREID_KERNELS_MODULE_LAYERS_H

#include "kernels/attention/Attention.h"
#include "kernels/linear/Linear.h"
#include "kernels/module/Initialise.h"
#include "kernels/module/Module.h"

#include <functional>
#include <optional>

namespace nereid::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = f32;
  Device device = Device::best();
};

/// `weight` [out, in], `bias` [out]: uniform up to 1 / sqrt(in).
class Linear : public Module {
public:
  Linear(int64_t in, int64_t out, const LinearOptions &options = {});
  /// With an activation in the same kernel.
  Variable
  operator()(const Variable &x,
             kernels::Activation activation = kernels::Activation::None) const;

  Variable weight, bias; ///< undefined without
};

struct EmbeddingOptions {
  /// A row of 0 that gets no gradient; negative: from the end.
  std::optional<int64_t> padding;
  DType dtype = f32;
  Device device = Device::best();
};

/// `weight` [rows, width], standard normal.
class Embedding : public Module {
public:
  Embedding(int64_t rows, int64_t width, const EmbeddingOptions &options = {});
  /// `indices` [...] of i32 or i64; the result [..., width].
  Variable operator()(const Tensor &indices) const;

  Variable weight;

private:
  std::optional<int64_t> padding;
};

struct LayerNormOptions {
  double eps = 1e-5;
  bool affine = true; ///< has a weight
  bool bias = true;   ///< and a bias, where it is affine
  DType dtype = f32;
  Device device = Device::best();
};

/// Over the last dimension; `weight` 1 and `bias` 0, [width].
class LayerNorm : public Module {
public:
  explicit LayerNorm(int64_t width, const LayerNormOptions &options = {});
  Variable operator()(const Variable &x) const;

  Variable weight, bias;

private:
  int64_t width;
  double eps;
};

struct RmsNormOptions {
  double eps = 1e-6;
  bool affine = true;
  DType dtype = f32;
  Device device = Device::best();
};

/// Over the last dimension; `weight` 1, [width].
class RmsNorm : public Module {
public:
  explicit RmsNorm(int64_t width, const RmsNormOptions &options = {});
  Variable operator()(const Variable &x) const;

  Variable weight;

private:
  int64_t width;
  double eps;
};

/// Norms x [samples, channels, ...]; `weight` 1 and `bias` 0, [channels].
class GroupNorm : public Module {
public:
  GroupNorm(int64_t groups, int64_t channels,
            const LayerNormOptions &options = {});
  Variable operator()(const Variable &x) const;

  Variable weight, bias;

private:
  int64_t groups, channels;
  double eps;
};

/// Each element is 0 with probability `p`, else divided by 1 - p, while the
/// module is in training; in `eval` what it is given. Each call draws again:
/// the next seed of the process, or of `generator`, which must outlive the
/// module. Threads may draw from one generator at once. Of p = 1 all are 0.
class Dropout : public Module {
public:
  explicit Dropout(double p = 0.5, Generator *generator = nullptr);
  Variable operator()(const Variable &x) const;

private:
  double p;
  Generator *generator;
};

struct MultiheadAttentionOptions {
  bool bias = true;
  double dropout = 0; ///< of the weights, in training
  DType dtype = f32;
  Device device = Device::best();
};

/// Self-attention with one product for queries, keys and values. Parameters
/// `in_proj_weight` [3 width, width], `in_proj_bias`, `out_proj.weight`,
/// `out_proj.bias`, as torch.nn.MultiheadAttention has them.
class MultiheadAttention : public Module {
public:
  MultiheadAttention(int64_t width, int64_t heads,
                     const MultiheadAttentionOptions &options = {});
  /// `x` [B, T, width]. `options`: mask or bias, causal ...; its dropout counts
  /// for nothing.
  Variable operator()(const Variable &x,
                      kernels::AttentionOptions options = {}) const;

  Variable inWeight, inBias;
  Linear outProjection;

private:
  int64_t heads;
  double dropout;
};

/// One after the other; modules among them are named by their place.
///
///   nn::Sequential mlp(nn::Linear(4, 8), kernels::gelu, nn::Linear(8, 4));
class Sequential : public Module {
public:
  template <typename... Steps>
    requires(std::invocable<const Steps &, const Variable &> && ...)
  explicit Sequential(const Steps &...steps) {
    (append(steps), ...);
  }
  template <typename Step>
    requires std::invocable<const Step &, const Variable &>
  void append(const Step &step) {
    if constexpr (std::derived_from<Step, Module>) {
      add(std::to_string(steps.size()), step);
    }
    steps.push_back([step](const Variable &x) { return Variable(step(x)); });
  }
  Variable operator()(const Variable &x) const;

private:
  std::vector<std::function<Variable(const Variable &)>> steps;
};

} // namespace nereid::nn

#endif // NEREID_KERNELS_MODULE_LAYERS_H
