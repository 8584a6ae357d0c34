//===- Rotary.h - Rotary embedding ------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      (a, b) -> (a cos - b sin, b cos + a sin) for each pair of a
//               head's first R elements: (i, R/2 + i), or (2i, 2i + 1) if
//               interleaved; those after them stay
// Shapes:       x [B, T, H, D] or [T, H, D]; cos, sin [T, R/2], which say what
// R
//               is, to D; y as x
// Types:        x, cos, sin of fp32, fp16, bf16, each its own; y has x's;
//               arithmetic fp32. Of x of fp64, all is
// Gradients:    x: the inverse rotation
// Memory:       reads x once, in any strides with neighbours along D; the tape
//               keeps cos and sin
// Determinism:  the same bits in each run
// Source:       Su et al., "RoFormer: Enhanced Transformer with Rotary Position
//               Embedding", arXiv 2104.09864
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ROTARY_ROTARY_H
#define NEREID_KERNELS_ROTARY_ROTARY_H

#include "kernels/expression/Expression.h"

#include <utility>

namespace nereid::kernels {

/// cos and sin of position * base^(-2i/R), fp32 [positions, R/2]; from position
/// `first` on. `headSize` is R: of a part of each head, the size of that.
std::pair<Tensor, Tensor> rotaryAngles(int64_t positions, int64_t headSize,
                                       Device device, double base = 10000,
                                       int64_t first = 0);

Tensor rotary(const Tensor &x, const Tensor &cos, const Tensor &sin,
              bool interleaved = false);
Variable rotary(const Variable &x, const Tensor &cos, const Tensor &sin,
                bool interleaved = false);
inline Expression rotary(const Expression &x, const Tensor &cos,
                         const Tensor &sin, bool interleaved = false) {
  return rotary(x.variable(), cos, sin, interleaved);
}

/// By the opposite angles: what `rotary` did, undone.
Tensor rotaryInverse(const Tensor &x, const Tensor &cos, const Tensor &sin,
                     bool interleaved = false);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ROTARY_ROTARY_H
