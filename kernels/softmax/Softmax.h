//===- Softmax.h - Softmax and its logarithm, and gradients ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      y = exp(s) / sum(exp(s)), or log(y), over the last dimension,
//               with s = x * scale + mask; 0 (-inf) where nothing of a row
//               takes part
// Shapes:       x [..., M, N]; mask broadcasts to x; y as x
// Types:        x of fp32, fp16, bf16, fp64; mask of these (is added), or int1
//               (true: takes part); y has x's; arithmetic fp32, of fp64 fp64
// Gradients:    x
// Memory:       reads x once, twice where a row exceeds 65,536 elements; the
//               backward reads y and dy once, twice above 32,768
// Determinism:  the same bits in each run on one device
// Source:       Milakov, Gimelshein, "Online normalizer calculation for
//               softmax", arXiv 1805.02867
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SOFTMAX_SOFTMAX_H
#define NEREID_KERNELS_SOFTMAX_SOFTMAX_H

#include "kernels/expression/Expression.h"

namespace nereid::kernels {

struct SoftmaxOptions {
  double scale = 1;
  /// Column j of row i takes part where j <= i + N - M: the last row of each
  /// matrix sees all columns.
  bool causal = false;
  Tensor mask = {}; ///< undefined for none
};

Tensor softmax(const Tensor &x, const SoftmaxOptions &options = {});
Variable softmax(const Variable &x, const SoftmaxOptions &options = {});
inline Expression softmax(const Expression &x,
                          const SoftmaxOptions &options = {}) {
  return softmax(x.variable(), options);
}

Tensor logSoftmax(const Tensor &x, const SoftmaxOptions &options = {});
Variable logSoftmax(const Variable &x, const SoftmaxOptions &options = {});
inline Expression logSoftmax(const Expression &x,
                             const SoftmaxOptions &options = {}) {
  return logSoftmax(x.variable(), options);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_SOFTMAX_SOFTMAX_H
