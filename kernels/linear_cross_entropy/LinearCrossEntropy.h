//===- LinearCrossEntropy.h - Loss without all logits ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      the loss of CrossEntropy.h, of the logits x @ weight^T
// Shapes:       x [..., C]; weight [V, C]; targets as x without C; the loss []
// Types:        x and weight of one of fp32, fp16, bf16; targets i32 or i64;
//               the loss fp32; logits are rounded to x's type; products of fp32
//               are in fp32, not tf32. Of fp64 all is, and logits are held
// Gradients:    x, weight: computed beside the loss where it is recorded, and
//               scaled by the backward; copies of them where the graph stays
//               (`retainGraph`)
// Memory:       logits of an eighth of the rows (a GPU: of a quarter where that
//               is at most 4096), and no less than 128, at a time, whose
//               gradients take their place; one fp32 copy of weight's
//               gradient, in which the parts' products are summed
// Determinism:  the same bits in each run on one device
// Source:       Hsu et al., "Liger Kernel", arXiv 2410.10989 (the gradient of
//               each part beside its loss)
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_CROSS_ENTROPY_LINEARCROSSENTROPY_H
#define NEREID_KERNELS_LINEAR_CROSS_ENTROPY_LINEARCROSSENTROPY_H

#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/expression/Values.h"

namespace nereid::kernels {

/// Reduction::None is refused: the gradients would have to wait for theirs.
Tensor linearCrossEntropy(const Tensor &x, const Tensor &weight,
                          const Tensor &targets,
                          const CrossEntropyOptions &options = {});
Variable linearCrossEntropy(const Variable &x, const Variable &weight,
                            const Tensor &targets,
                            const CrossEntropyOptions &options = {});
template <typename X, typename W>
  requires WithExpression<X, W>
Expression linearCrossEntropy(const X &x, const W &weight,
                              const Tensor &targets,
                              const CrossEntropyOptions &options = {}) {
  return linearCrossEntropy(asVariable(x), asVariable(weight), targets,
                            options);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_CROSS_ENTROPY_LINEARCROSSENTROPY_H
