//===- DeviceProperties.h - What a device has ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that choose by it how many programs of a grid to launch.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICEPROPERTIES_H
#define NEREID_RUNTIME_DEVICEPROPERTIES_H

#include "nereid/Runtime/Device.h"

#include <cstdint>

namespace nereid {

/// The numbers of a device, without its texts.
struct DeviceNumbers {
  /// Multiprocessors of a GPU; threads that run programs on the cpu device
  /// (setNumThreads); 1 of interp.
  int processors = 1;
  int64_t memoryBytes = 0; ///< of a GPU; 0 for the host
  /// The size of a GPU's last cache; of a core's second level for the host.
  int64_t cacheBytes = 0;
  /// 10 * major + minor for an NVIDIA GPU, 90 for an H100; 0 for others.
  int computeCapability = 0;
  int64_t sharedBytes = 0; ///< of a GPU's multiprocessor; 0 for the host
};

struct DeviceProperties : DeviceNumbers {
  /// "NVIDIA H200"; of the host "cpu" or "interp".
  std::string name;
  /// What kernels are compiled for: "sm_90a", "gfx942"; empty for the host.
  std::string architecture;
};

/// Cheap, but for the first question about a GPU. Throws Error when there is no
/// such device.
DeviceProperties properties(Device device);
/// The same for what is asked at each launch: nothing is allocated.
DeviceNumbers numbersOf(Device device);

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICEPROPERTIES_H
