//===- DeviceCopy.h - Copies that leave the host's memory -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_DEVICECOPY_H
#define NEREID_RUNTIME_DEVICE_DEVICECOPY_H

#include "nereid/Runtime/Tensor.h"

namespace nereid {

/// `to` and `from` have one shape and at least one element, and at least one
/// of them is on a GPU. Throws what Tensor::copyFrom throws.
void copyAcrossDevices(const Tensor &to, const Tensor &from);

/// Sets every element of a contiguous tensor of a GPU to that of `scalar`, a
/// host tensor of the same dtype. False when the device has no fill for this
/// value.
bool fillOnDevice(const Tensor &to, const Tensor &scalar);

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_DEVICECOPY_H
