//===- Sampling.h - Tokens drawn from logits --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      a column of each row, with probability softmax(x / temperature)
//               among the topK largest (and what equals the last of them), and
//               of those among the largest that have topP of the probability;
//               temperature 0: the largest, the first of equal ones. -1 of a
//               row with a NaN, or with nothing above minus infinity
// Shapes:       x [rows, N]; the result [rows] int32
// Types:        fp32, fp16, bf16; arithmetic fp32
// Gradients:    none
// Memory:       reads x once, and 32 times more, out of a cache where it fits,
//               for each of topK and topP
// Determinism:  the same tokens in each run: row r takes
//               argmax(x / temperature - log(-log(u))), where u of column c is
//               tl.rand(seed, offset + r * N + c); sampleNext's offset for a
//               row is 2^40 times its step
// Source:       Fan, Lewis, Dauphin, arXiv 1805.04833 (top-k); Holtzman et al.,
//               arXiv 1904.09751 (top-p); Gumbel, "Statistical Theory of
//               Extreme Values", 1954
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SAMPLING_SAMPLING_H
#define NEREID_KERNELS_SAMPLING_SAMPLING_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

struct SamplingOptions {
  double temperature = 1;
  int64_t topK = 0; ///< 0: all
  double topP = 1;  ///< 1: all
  int64_t seed = 0, offset = 0;
};

Tensor sample(const Tensor &logits, const SamplingOptions &options = {});

/// How far each sequence is: on the device, so that a step that was captured
/// goes on from there when it is replayed.
struct SamplingState {
  /// i32 [rows], contiguous, like the next two: the token drawn last.
  Tensor tokens;
  Tensor positions; ///< of that token in its sequence
  Tensor steps;     ///< tokens drawn so far, below 2^23
  /// i32 [ring, rows], contiguous: the token of step s is in row s % ring.
  Tensor history;
};

/// Draws the next token of each row, and notes it: positions and steps are then
/// one more. The offset of `options` counts for nothing.
void sampleNext(const Tensor &logits, const SamplingState &state,
                const SamplingOptions &options = {});

} // namespace nereid::kernels

#endif // NEREID_KERNELS_SAMPLING_SAMPLING_H
