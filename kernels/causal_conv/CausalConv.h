//===- CausalConv.h - Short convolutions along time -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      y[t] = bias + the sum over j of weight[j] * x[t - (taps - 1) +
//               j], for each channel; x in front of the sequence is 0
// Shapes:       x [B, T, D]; weight [D, taps], to 16 taps; bias [D] or
//               undefined; y as x, row-major
// Types:        fp32, fp16, bf16, each its own; y has x's; sums fp32. Of x of
//               fp64, all is
// Gradients:    x, weight, bias
// Memory:       reads x taps times (from a cache), writes y once
// Determinism:  the same bits in each run on one device; no atomics
// Source:       the convolution of Gu, Dao, "Mamba", arXiv 2312.00752
//
// PyTorch's conv1d(x, weight, bias, padding = taps - 1, groups = D), without
// the last taps - 1 results, of channels that are neighbours in memory.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_CAUSAL_CONV_CAUSALCONV_H
#define NEREID_KERNELS_CAUSAL_CONV_CAUSALCONV_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

Tensor causalConv(const Tensor &x, const Tensor &weight,
                  const Tensor &bias = {});
Variable causalConv(const Variable &x, const Variable &weight,
                    const Variable &bias = {});
template <typename X, typename W, typename B = Variable>
  requires WithExpression<X, W, B>
Expression causalConv(const X &x, const W &weight, const B &bias = {}) {
  return causalConv(asVariable(x), asVariable(weight), asVariable(bias));
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_CAUSAL_CONV_CAUSALCONV_H
