//===- DeviceProperties.cpp -------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/DeviceProperties.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

using namespace nereid;

static const gpu::DeviceProperties &propertiesOfGpu(Device device) {
  return valueOrThrow(gpu::DeviceState::get(device))->properties;
}

DeviceNumbers nereid::numbersOf(Device device) {
  DeviceNumbers found;
  if (device.isHost()) {
    found.processors = device == Device::interp() ? 1 : numThreads();
    found.cacheBytes =
        static_cast<int64_t>(thisMachine().secondLevelCacheBytes);
    return found;
  }
  const gpu::DeviceProperties &gpu = propertiesOfGpu(device);
  found.processors = gpu.multiprocessors;
  found.memoryBytes = static_cast<int64_t>(gpu.memoryBytes);
  found.cacheBytes = gpu.l2Bytes;
  if (device.kind() == Device::Kind::Cuda) {
    found.computeCapability = 10 * gpu.major + gpu.minor;
  }
  found.sharedBytes = gpu.sharedBytesPerMultiprocessor;
  return found;
}

DeviceProperties nereid::properties(Device device) {
  DeviceProperties found{numbersOf(device), {}, {}};
  if (device.isHost()) {
    found.name = device.str();
    return found;
  }
  const gpu::DeviceProperties &gpu = propertiesOfGpu(device);
  found.name = gpu.name;
  found.architecture = gpu.target();
  return found;
}
