//===- Random.h - Tensors made from nothing on a GPU ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      rand, randn, randint and arange (nereid/Runtime/Tensor.h), with
//               the host's bits: Philox4x32-10 of seed and index, logarithm,
//               sine and cosine as polynomials of fused multiply-adds
// Shapes:       any, row-major
// Types:        floats but fp8; integers of randint and arange. What a kernel
//               would round otherwise than the host (fp16 and bf16 of integers
//               beyond 2^24, ranges of 2^32 and more) is made on the host
// Gradients:    none
// Memory:       writes once
// Determinism:  the same bits in each run, on each device
// Source:       J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random
//               numbers: as easy as 1, 2, 3", SC 2011; G. Box, M. Muller, "A
//               note on the generation of random normal deviates", 1958
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_RANDOM_RANDOM_H
#define NEREID_KERNELS_RANDOM_RANDOM_H

#include "nereid/Runtime/device/DeviceGenerator.h"

namespace nereid::kernels {

/// What Runtime's generators call for tensors of a GPU (DeviceFunctions).
/// False: the host has to make this one.
bool generate(const Tensor &to, const Generation &generation);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_RANDOM_RANDOM_H
