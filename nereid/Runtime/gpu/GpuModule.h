//===- GpuModule.h - From an image to a function of a device ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_GPUMODULE_H
#define NEREID_RUNTIME_GPU_GPUMODULE_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

namespace nereid::gpu {

/// A kernel in a device's context. Unloaded when the last user is gone, after
/// the device has finished.
struct LoadedKernel {
  explicit LoadedKernel(DeviceState &device) : device(device) {}
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel &) = delete;
  LoadedKernel &operator=(const LoadedKernel &) = delete;

  DeviceState &device;
  ModuleHandle module = nullptr;
  FunctionHandle function = nullptr;
  /// For messages: the kernel's name in the source, and its parameters.
  std::string name;
  std::vector<ImageParameter> parameters;
};

/// Turns a GpuAssembly image into a GpuBinary one for the device, with the
/// assembler's report. Internal, with its log, when it finds an error. Only for
/// machine code that is to be kept: the driver gives none away but relocatable
/// code, which takes more registers (docs/Runtime.md, "Images").
Status assemble(DeviceState &device, KernelImage &image, uint32_t maxRegisters);

/// Loads a GpuBinary image, or a GpuAssembly one, which CUDA's driver
/// assembles: it keeps what it made in a cache of its own (CUDA_CACHE_PATH).
/// Fills in numRegisters, localBytes and, where the driver assembles,
/// spillBytes. Internal, with the assembler's log, when it finds an error;
/// Unsupported when the device has not the shared memory or the registers for
/// one block.
Expected<std::shared_ptr<const LoadedKernel>>
load(DeviceState &device, KernelImage &image, uint32_t maxRegisters = 0);

/// What a launch asks for beside what the code states: all of CUDA's shared
/// memory; none of HIP's, since a code object states its LDS.
uint32_t dynamicSharedBytes(const DeviceState &device,
                            const KernelImage &image);

/// "add [sm_90a]: 16 registers, ...": what NEREID_LOG=compile prints. `blocks`
/// fit a multiprocessor, which can hold `maxThreads` threads.
std::string resourceLine(const KernelImage &image, int blocks, int maxThreads);

/// A device of this machine with the architecture "sm_90a" or "gfx942";
/// NotFound without.
Expected<DeviceState *> deviceOfTarget(const std::string &target);
/// The line above, of an image for a GPU, by such a device's driver.
Expected<std::string> reportResources(KernelImage image);
std::string resourceLine(const LoadedKernel &kernel, const KernelImage &image);

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_GPUMODULE_H
