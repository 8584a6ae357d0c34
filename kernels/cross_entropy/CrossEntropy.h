//===- CrossEntropy.h - The loss of classes, and its gradient --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      loss = lse - (1 - s) * x[target] - s * mean(x) of each row,
//               with lse = log(sum(exp(x))) and the smoothing s; 0 of a row
//               whose target is ignored. Mean: over the rows that are not
//               ignored, and 0 where all are
// Shapes:       logits [..., V]; targets as logits without V; the loss [], or
//               as targets without reduction
// Types:        logits of fp32, fp16, bf16, fp64; targets of i32 or i64; the
//               loss and the arithmetic fp32 (of fp64 fp64); the gradient has
//               the logits' type
// Gradients:    logits
// Memory:       two passes over the logits. Where it is recorded, with a mean
//               or a sum, and logits are not fp16, the second pass writes the
//               gradient, which is kept in place of the logits, and the
//               backward scales it, reading nothing where the factor is 1; a
//               copy of it where the graph stays (`retainGraph`). Else logits
//               and a float a row are kept. With
//               `overwritesLogits` the gradient takes the logits' memory
// Determinism:  the same bits in each run on one device
// Source:       Szegedy et al., "Rethinking the Inception Architecture",
//               arXiv 1512.00567 (smoothing); Milakov, Gimelshein, arXiv
//               1805.02867 (one pass for maximum and sum)
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_CROSS_ENTROPY_CROSSENTROPY_H
#define NEREID_KERNELS_CROSS_ENTROPY_CROSSENTROPY_H

#include "kernels/expression/Expression.h"

namespace nereid::kernels {

enum class Reduction { Mean, Sum, None };

struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;
  double labelSmoothing = 0; ///< from 0 to 1
  int64_t ignoreIndex = -100;
  /// Where a gradient is recorded, it is written over row-major logits, which
  /// nothing may read afterwards: half the memory, and lines that the cache
  /// holds already.
  bool overwritesLogits = false;
};

/// Targets on a host device that are neither classes nor ignored are refused;
/// on a GPU their loss is NaN.
Tensor crossEntropy(const Tensor &logits, const Tensor &targets,
                    const CrossEntropyOptions &options = {});
Variable crossEntropy(const Variable &logits, const Tensor &targets,
                      const CrossEntropyOptions &options = {});
inline Expression crossEntropy(const Expression &logits, const Tensor &targets,
                               const CrossEntropyOptions &options = {}) {
  return crossEntropy(logits.variable(), targets, options);
}

/// The parts, for operators that compute logits themselves.
namespace cross_entropy {

void checkTargets(const char *op, const Tensor &targets, int64_t classes,
                  int64_t ignored);
/// How many of them are not ignored, at least 1: fp32 [].
Tensor count(const Tensor &targets, int64_t ignored);
/// Losses of rows of row-major logits [rows, V]. `lse`, `gradient` and `count`
/// may be undefined; the gradient may be the logits.
void losses(const Tensor &losses, const Tensor &lse, const Tensor &gradient,
            const Tensor &logits, int64_t stride, const Tensor &targets,
            const Tensor &count, const CrossEntropyOptions &options);
/// Their sum, divided by `count` where that is defined: fp32 [].
Tensor sum(const Tensor &losses, const Tensor &count);
/// x *= factor, a tensor of one element; x is row-major.
void scale(const Tensor &x, const Tensor &factor);

} // namespace cross_entropy

} // namespace nereid::kernels

#endif // NEREID_KERNELS_CROSS_ENTROPY_CROSSENTROPY_H
