//===- Linear.h - Products and linear layers, with gradients ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      matmul: activation(scale * (a @ b) + bias) + residual;
//               linear: activation(x @ weight^T + bias)
// Shapes:       a [..., M, K], b [..., K, N], whose dimensions in front are
//               broadcast; or vectors, a [K] as a row that the result has not,
//               b [K] as a column; bias [N]; residual as the result;
//               x [..., K], weight [N, K], result [..., N]; any strides
// Types:        a and b of fp32, fp16, bf16, fp64, fp8 or int8, both of one;
//               sums fp32 (int8: i32, fp64: fp64; fp8 and fp64 with a
//               compiler). The result has a's type, of int8 i32, of fp8 bf16,
//               or the one asked for. fp32 is exact unless `tf32` is asked
//               for; on NVIDIA GPUs products of K from 512 on are three of
//               tf32, with errors as those of fp32
// Gradients:    a, b, bias, residual; x, weight, bias. Where the result has
//               another type than a, its gradient is rounded to a's
// Memory:       reads operands of any strides in place (a copy where the
//               dimensions in front have no one stride); where K is cut, a part
//               of the result's size in fp32 for each split. linear with an
//               activation saves what that is applied to
// Determinism:  the same bits in each run on one device
// Source:       activations: Hendrycks, Gimpel, "Gaussian Error Linear Units",
//               arXiv 1606.08415
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_LINEAR_H
#define NEREID_KERNELS_LINEAR_LINEAR_H

#include "kernels/expression/Values.h"

#include <optional>

namespace nereid::kernels {

/// Gelu: by erf. GeluTanh: 0.5 z (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3))).
enum class Activation { None, Relu, Gelu, GeluTanh, Silu };

struct MatmulOptions {
  Tensor bias = {}, residual = {}; ///< or undefined
  Activation activation = Activation::None;
  double scale = 1;
  std::optional<DType> type = {}; ///< of the result
  /// On a GPU, operands of fp32 are read as tf32 (10 bits of mantissa).
  bool tf32 = false;
};

Tensor matmul(const Tensor &a, const Tensor &b,
              const MatmulOptions &options = {});

/// As MatmulOptions, for a product on a tape.
struct VariableMatmulOptions {
  Variable bias = {}, residual = {}; ///< or undefined
  double scale = 1;
  std::optional<DType> type = {}; ///< of the result
  bool tf32 = false;
};

Variable matmul(const Variable &a, const Variable &b,
                const VariableMatmulOptions &options = {});
template <typename A, typename B>
  requires WithExpression<A, B>
Expression matmul(const A &a, const B &b,
                  const VariableMatmulOptions &options = {}) {
  return matmul(asVariable(a), asVariable(b), options);
}

Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias = {},
              Activation activation = Activation::None, bool tf32 = false);
Variable linear(const Variable &x, const Variable &weight,
                const Variable &bias = {},
                Activation activation = Activation::None, bool tf32 = false);
template <typename X, typename W, typename B = Variable>
  requires WithExpression<X, W, B>
Expression linear(const X &x, const W &weight, const B &bias = {},
                  Activation activation = Activation::None, bool tf32 = false) {
  return linear(asVariable(x), asVariable(weight), asVariable(bias), activation,
                tf32);
}

struct LinearOptions {
  double scale = 1;               ///< of the product, in front of the bias
  std::optional<DType> type = {}; ///< of the result
  bool tf32 = false;
};

/// scale * (x @ weight^T) + bias: `linear(x, weight, bias, {.type = f32})`.
Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias,
              const LinearOptions &options);
Variable linear(const Variable &x, const Variable &weight, const Variable &bias,
                const LinearOptions &options);
template <typename X, typename W, typename B = Variable>
  requires WithExpression<X, W, B>
Expression linear(const X &x, const W &weight, const B &bias,
                  const LinearOptions &options) {
  return linear(asVariable(x), asVariable(weight), asVariable(bias), options);
}

/// GELU (erf) of linear, in one kernel; where a GPU records a gradient, in two.
Tensor linearGelu(const Tensor &x, const Tensor &weight,
                  const Tensor &bias = {});
Variable linearGelu(const Variable &x, const Variable &weight,
                    const Variable &bias = {});
template <typename X, typename W, typename B = Variable>
  requires WithExpression<X, W, B>
Expression linearGelu(const X &x, const W &weight, const B &bias = {}) {
  return linearGelu(asVariable(x), asVariable(weight), asVariable(bias));
}

struct LinearGradients {
  Tensor x, weight, bias; ///< undefined where they were not asked for
};

/// `z`: what the activation was applied to, row-major; undefined for None.
LinearGradients linearBackward(const Tensor &dy, const Tensor &x,
                               const Tensor &weight, const Tensor &z,
                               Activation activation, bool wantsX,
                               bool wantsWeight, std::optional<DType> biasType,
                               bool tf32 = false);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_LINEAR_H
