//===- Patches.h - Patches of images as rows --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      unfold: y[b, (p, q), (c, i, j)] = x[b, c, p * step - padding +
//               i, q * step - padding + j], 0 beyond the image; fold: the sum
//               of all y[b, (p, q), (c, i, j)] that unfold takes from x[b, c,
//               ..]
// Shapes:       x [B, C, H, W]; y [B, patches, C * height * width], patches row
//               by row; any strides
// Types:        fp32, fp16, bf16, fp64; sums fp32, of fp64 fp64
// Gradients:    x of unfold is fold of its gradient; y of fold is unfold
// Memory:       reads and writes each element of y once
// Determinism:  the same bits in each run; no atomics
// Source:       none
//
// A product with patches is a convolution: linear(unfold(x, {3, 3, 1, 1, 1,
// 1}), weight) with PyTorch's weight [N, C, 3, 3] viewed as [N, C * 9]. Patches
// that do not overlap, unfold(x, {16, 16, 16, 16}), are a vision transformer's,
// and fold puts them back. PyTorch's unfold has the last two dimensions
// exchanged.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_PATCHES_PATCHES_H
#define NEREID_KERNELS_PATCHES_PATCHES_H

#include "kernels/expression/Expression.h"

namespace nereid::kernels {

struct Patch {
  int64_t height = 1, width = 1; ///< to 256
  int64_t stepDown = 1, stepAcross = 1;
  int64_t padDown = 0, padAcross = 0; ///< rows and columns of 0 on both sides
};

Tensor unfold(const Tensor &x, const Patch &patch);
Variable unfold(const Variable &x, const Patch &patch);
inline Expression unfold(const Expression &x, const Patch &patch) {
  return unfold(x.variable(), patch);
}

/// [B, C, height, width] of y, whose patches are those of such an image.
Tensor fold(const Tensor &y, int64_t height, int64_t width, const Patch &patch);
Variable fold(const Variable &y, int64_t height, int64_t width,
              const Patch &patch);
inline Expression fold(const Expression &y, int64_t height, int64_t width,
                       const Patch &patch) {
  return fold(y.variable(), height, width, patch);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_PATCHES_PATCHES_H
