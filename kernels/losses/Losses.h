//===- Losses.h - Losses of regression and of probabilities ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      of each element, with d = x - target: mseLoss: d^2; l1Loss:
//               |d|; huberLoss: d^2 / 2 where |d| <= delta, else delta (|d| -
//               delta / 2); binaryCrossEntropy: -(t log(x) + (1 - t) log(1 -
//               x)), logarithms no less than -100;
//               binaryCrossEntropyWithLogits: the same of sigmoid(x), exact for
//               any x; klDiv: t (log(t) - x), 0 where t is 0, x a logarithm;
//               with `logTarget`, exp(t) (t - x), 0 where exp(t) is. Their
//               mean, their sum, or all
// Shapes:       x and target of one shape; the loss [], or as x without
//               reduction
// Types:        fp32, fp16, bf16, fp64; arithmetic fp32, of fp64 fp64; without
// reduction the loss
//               has the type of x and target together, with one that of it, too
// Gradients:    x, target
// Memory:       one tensor of x's shape for the losses, one for each gradient
// Determinism:  the same bits in each run on one device
// Source:       Huber, "Robust Estimation of a Location Parameter", 1964
//
// The loss of classes is crossEntropy.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LOSSES_LOSSES_H
#define NEREID_KERNELS_LOSSES_LOSSES_H

#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/expression/Expression.h"

namespace nereid::kernels {

// Tensors, variables and expressions are taken in any mix, and an expression is
// given back, whose value is computed.
Expression mseLoss(const Expression &x, const Expression &target,
                   Reduction reduction = Reduction::Mean);
Expression l1Loss(const Expression &x, const Expression &target,
                  Reduction reduction = Reduction::Mean);
Expression huberLoss(const Expression &x, const Expression &target,
                     Reduction reduction = Reduction::Mean, double delta = 1);
Expression binaryCrossEntropy(const Expression &x, const Expression &target,
                              Reduction reduction = Reduction::Mean);
Expression binaryCrossEntropyWithLogits(const Expression &x,
                                        const Expression &target,
                                        Reduction reduction = Reduction::Mean);
Expression klDiv(const Expression &x, const Expression &target,
                 Reduction reduction = Reduction::Mean, bool logTarget = false);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LOSSES_LOSSES_H
