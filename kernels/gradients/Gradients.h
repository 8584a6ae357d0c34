//===- Gradients.h - The norm of gradients, and its limit ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   clipGradNorm(model.parameters(), 1.0);
//   optimizer.step();
//
// Formula:      norm = sqrt(sum of the squares of all gradients); each gradient
//               is multiplied by min(1, most / (norm + 1e-6))
// Shapes:       gradients of any shape, row-major; the norm [1]
// Types:        gradients of fp32, fp16, bf16; squares and sums fp64; the norm
//               fp32
// Gradients:    none
// Memory:       reads gradients once for the norm, and reads and writes them
//               once; launches for each of them. AdamW::clipFactor has one pass
//               less: its step multiplies
// Determinism:  the same bits in each run on one device
// Source:       Pascanu, Mikolov, Bengio, "On the difficulty of training
//               recurrent neural networks", arXiv 1211.5063
//
// As torch.nn.utils.clip_grad_norm_: of a norm that is NaN all gradients become
// NaN; of an infinite one they become 0, and NaN where they are infinite.
// Nothing waits for a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_GRADIENTS_GRADIENTS_H
#define NEREID_KERNELS_GRADIENTS_GRADIENTS_H

#include "nereid/Autograd/Variable.h"

#include <span>

namespace nereid::kernels {

/// The norm of the parameters that have a gradient; 0 where none has. Throws
/// InvalidArgument for parameters of several devices, and unless `most` is
/// positive.
Tensor clipGradNorm(std::span<const Variable> parameters, double most);
Tensor gradNorm(std::span<const Variable> parameters);

/// The parts, for what scales gradients for another reason.
namespace gradients {

/// The gradients that there are. Throws InvalidArgument as `op`.
std::vector<Tensor> of(const char *op, std::span<const Variable> parameters);
/// Sums of squares, f64 [parts]. At least one gradient.
Tensor squares(std::span<const Tensor> gradients);
/// Each *= factor, fp32 [1].
void scale(std::span<const Tensor> gradients, const Tensor &factor);

} // namespace gradients

} // namespace nereid::kernels

#endif // NEREID_KERNELS_GRADIENTS_GRADIENTS_H
