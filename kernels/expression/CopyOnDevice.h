//===- CopyOnDevice.h - Strided and converting copies ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_COPYONDEVICE_H
#define NEREID_KERNELS_EXPRESSION_COPYONDEVICE_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

/// What Tensor::copyFrom does between tensors of one GPU (Tensor.h says how
/// numbers are converted). False where a kernel would convert in another way:
/// floats to integers, fp64, fp8, and integers of 32 bits and more to what
/// holds them no more exactly than fp32; and in programs without a compiler.
bool copyOnDevice(const Tensor &to, const Tensor &from);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_EXPRESSION_COPYONDEVICE_H
