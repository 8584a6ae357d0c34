//===- DeviceGenerator.h - Tensors made where they are ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_DEVICEGENERATOR_H
#define NEREID_RUNTIME_DEVICE_DEVICEGENERATOR_H

#include "nereid/Runtime/Tensor.h"

namespace nereid {

/// What rand, randn, randint or arange was asked for. DeviceFunctions::generate
/// makes the bits that the host would.
struct Generation {
  enum class Kind { Uniform, Normal, Integers, Arange };
  Kind kind = Kind::Uniform;
  uint64_t seed = 0;
  int64_t low = 0;            ///< of integers
  uint64_t size = 0;          ///< of integers: how many there are
  double start = 0, step = 0; ///< of arange
};

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_DEVICEGENERATOR_H
