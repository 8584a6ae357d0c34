//===- GpuReport.cpp - What a kernel takes of a GPU, by its driver -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuModule.h"

namespace nereid::gpu {

Expected<DeviceState *> deviceOfTarget(const std::string &target) {
  const bool isHip = target.starts_with("gfx");
  Expected<int> count =
      DeviceState::count(isHip ? Device::Kind::Hip : Device::Kind::Cuda);
  for (int i = 0; count.ok() && i < *count; ++i) {
    Expected<DeviceState *> device =
        DeviceState::get(isHip ? Device::hip(i) : Device::cuda(i));
    if (device.ok() && (*device)->properties.target() == target) {
      return device;
    }
  }
  return {ErrorCode::NotFound, "this machine has no " + target};
}

Expected<std::string> reportResources(KernelImage image) {
  Expected<DeviceState *> device = deviceOfTarget(image.target);
  if (!device.ok()) {
    return device.failure();
  }
  auto kernel = load(**device, image);
  if (!kernel.ok()) {
    return kernel.failure();
  }
  return resourceLine(**kernel, image);
}

std::string resourceLine(const KernelImage &image, int blocks, int maxThreads) {
  int threads = static_cast<int>(image.threadsPerBlock);
  return image.kernel + " [" + image.target +
         "]: " + std::to_string(image.numRegisters) + " registers, " +
         std::to_string(image.spillBytes) + " bytes spilled, " +
         std::to_string(image.localBytes) + " local, " +
         std::to_string(image.sharedBytes) + " shared, " +
         std::to_string(threads) + " threads, " + std::to_string(blocks) +
         " blocks a multiprocessor, occupancy " +
         std::to_string(100 * blocks * threads / std::max(maxThreads, 1)) +
         " %";
}

std::string resourceLine(const LoadedKernel &kernel, const KernelImage &image) {
  int blocks = 0;
  kernel.device.driver.occupancyMaxActiveBlocks(
      &blocks, kernel.function, static_cast<int>(image.threadsPerBlock),
      dynamicSharedBytes(kernel.device, image));
  return resourceLine(image, blocks,
                      kernel.device.properties.maxThreadsPerMultiprocessor);
}

} // namespace nereid::gpu
