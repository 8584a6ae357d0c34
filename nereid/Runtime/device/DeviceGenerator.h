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

/// What rand, randn, randint or arange was asked for.
struct Generation {
  enum class Kind { Uniform, Normal, Integers, Arange };
  Kind kind = Kind::Uniform;
  uint64_t seed = 0;
  int64_t low = 0;            ///< of integers
  uint64_t size = 0;          ///< of integers: how many there are
  double start = 0, step = 0; ///< of arange
};

/// Fills a row-major tensor of a GPU with the bits that the host would make;
/// false: it cannot. The library of operators sets one; without it the host
/// makes the numbers and copies them.
using DeviceGeneratorFunction = bool (*)(const Tensor &to,
                                         const Generation &generation);
void setDeviceGenerator(DeviceGeneratorFunction function);

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_DEVICEGENERATOR_H
