//===- Stages.h - Whether loads of a loop run ahead ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_STAGES_H
#define NEREID_KERNELS_OPERATOR_STAGES_H

#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Tensor.h"

#include <algorithm>

namespace nereid::kernels {

/// Can blocks of `tensor` be copied ahead, 16 bytes at once? One stride is 1;
/// the others, and the address, are multiples of 16: this is what a kernel
/// knows of its arguments when it is compiled.
inline bool isAligned(const Tensor &tensor) {
  const Shape &strides = tensor.strides();
  return reinterpret_cast<uintptr_t>(tensor.data()) % 16 == 0 &&
         std::count(strides.begin(), strides.end(), 1) == 1 &&
         std::all_of(strides.begin(), strides.end(), [](int64_t stride) {
           return stride == 1 || stride % 16 == 0;
         });
}

/// Has the device an engine that copies boxes of tensors of this type to
/// products, for kernels with roles of warps?
inline bool copiesBoxes(Device device, DType type) {
  constexpr int hopper = 90;
  bool isKnown = type == f16 || type == bf16 || type == i8 || isFloat8(type);
  return hasCompiler() && !device.isHost() && isKnown &&
         numbersOf(device).computeCapability == hopper;
}

/// Can the GPU's engine copy boxes of it, as kernels with roles of warps want?
/// The launch looks at the rest, sizes of 2^31 and the like.
inline bool isMappable(const Tensor &tensor) {
  return isAligned(tensor) && copiesBoxes(tensor.device(), tensor.dtype());
}

/// Do loads of a loop run ahead there, by copies to shared memory? On a host
/// stages have no meaning.
inline bool copiesAhead(Device device) {
  constexpr int ampere = 80;
  return device.isHost() || numbersOf(device).computeCapability >= ampere;
}

/// `stages`, or where these tensors cannot be copied ahead, the default, for
/// which no compiler warns that it has no effect.
inline int stagesFor(int stages, std::initializer_list<Tensor> tensors) {
  constexpr int byDefault = 3;
  bool areCopied = std::ranges::all_of(tensors, [](const Tensor &tensor) {
    return isAligned(tensor) && copiesAhead(tensor.device());
  });
  return areCopied ? stages : byDefault;
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_STAGES_H
