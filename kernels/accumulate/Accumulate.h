//===- Accumulate.h - Sums of gradients -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      a + b, in a's type, into a where `inPlace`
// Shapes:       a, b of one shape
// Types:        fp32, fp16, bf16, fp64 each; the sum is rounded once, to a's
//               type
// Gradients:    none: autograd adds gradients with it (DeviceFunctions), in
//               every program that launches an operator
// Memory:       reads both once (a copy of what is not row-major), writes once
// Determinism:  the same bits in each run
// Source:       none
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ACCUMULATE_ACCUMULATE_H
#define NEREID_KERNELS_ACCUMULATE_ACCUMULATE_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

Tensor accumulate(const Tensor &a, const Tensor &b, bool inPlace);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ACCUMULATE_ACCUMULATE_H
