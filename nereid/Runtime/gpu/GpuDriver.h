//===- GpuDriver.h - GPUs' drivers, loaded by name --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVIDIA's driver and HIP's library are the only parts of CUDA and ROCm that
// Nereid needs, and they are looked for at run time: programs start on machines
// without them. The types are those of the libraries' ABIs; no vendor's header
// is used. Both fill one table, and what is above it asks which of them it is
// only where they differ.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_GPUDRIVER_H
#define NEREID_RUNTIME_GPU_GPUDRIVER_H

#include "nereid/ABI/Status.h"
#include "nereid/Runtime/Device.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace nereid::gpu {

using Result = int; ///< CUresult, hipError_t; 0 is success
using DeviceId = int;
using DeviceAddress = uint64_t;
using ContextHandle = struct ContextObject *;
using StreamHandle = struct StreamObject *;
using EventHandle = struct EventObject *;
using ModuleHandle = struct ModuleObject *;
using FunctionHandle = struct FunctionObject *;
using GraphHandle = struct GraphObject *;
using GraphExecHandle = struct GraphExecObject *;
using GraphNodeHandle = struct GraphNodeObject *;
using LinkHandle = struct LinkObject *;

/// CUdevice_attribute; HIP's numbers are GpuDevice.cpp's.
enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  SharedBytesPerBlock = 8,
  WarpSize = 10,
  ClockRateKHz = 13,
  MultiprocessorCount = 16,
  MemoryClockRateKHz = 36,
  MemoryBusWidthBits = 37,
  L2CacheBytes = 38,
  MaxThreadsPerMultiprocessor = 39,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  SharedBytesPerMultiprocessor = 81,
  RegistersPerMultiprocessor = 82,
  SharedBytesPerBlockOptin = 97,
};

/// CUfunction_attribute, hipFunction_attribute.
enum FunctionAttribute : int {
  MaxFunctionThreads = 0, ///< of a block, with the registers it uses
  StaticSharedBytes = 1,
  LocalBytes = 3, ///< a thread's spills and stack
  NumRegisters = 4,
  MaxDynamicSharedBytes = 8,
};

/// CUlaunchAttribute: 8 bytes for the name, 64 for the value.
struct LaunchAttribute {
  /// The launch may begin before the one in front of it has ended, and waits
  /// where its kernel says so.
  static constexpr int programmaticStreamSerialization = 6;
  int name, padding;
  int value[16];
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// CUjit_option.
enum JitOption : int {
  JitMaxRegisters = 0,
  JitInfoLogBuffer = 3,
  JitInfoLogBytes = 4,
  JitErrorLogBuffer = 5,
  JitErrorLogBytes = 6,
  JitLogVerbose = 12,
  JitLineInfo = 13,
};

/// CUjitInputType.
inline constexpr int jitInputPtx = 1;

/// CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP, and HIP's.
inline constexpr unsigned hostPortableMapped = 3;
/// CU_STREAM_DEFAULT: ordered with the legacy default stream.
inline constexpr unsigned streamDefault = 0;
inline constexpr unsigned streamNonBlocking = 1;
inline constexpr unsigned eventWithTimes = 0;
inline constexpr unsigned eventWithoutTimes = 2;
/// CU_STREAM_CAPTURE_MODE_RELAXED: allocating and loading stay allowed.
inline constexpr int captureRelaxed = 2;

/// CUresult values that are distinguished; hipError_t has the same.
enum ResultCode : Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  UnsupportedPtxVersion = 222,
  InvalidHandle = 400,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  DeviceAssert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidProgramCounter = 718,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
};

/// A kernel did something that the device cannot continue from: every later
/// call on its context returns the same.
constexpr bool isFatal(Result result) {
  return result == IllegalAddress || result == LaunchTimeout ||
         (result >= HardwareStackError && result <= LaunchFailed) ||
         result == DeviceAssert;
}

/// Every entry point of GpuDriver.def. Thread-safe, as the drivers are.
struct Driver {
#define NEREID_GPU(name, cuda, hip, parameters)                                \
  Result(*name) parameters = nullptr;
#include "nereid/Runtime/gpu/GpuDriver.def"

  Device::Kind kind = Device::Kind::Cuda; ///< of its devices
  /// 13000 for CUDA 13.0; 60300000 for HIP 6.3.
  int version = 0;
  /// It finds accesses past an array to the byte: blocks of memory are as
  /// large as what is asked for, and are used again for just as much.
  bool keepsExactBytes = false;

  /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  std::string describe(Result result) const;
  std::string versionText() const; ///< "CUDA 13.0", "HIP 6.3"
  /// Success, or a failure that says what was being done.
  Status check(Result result, const char *what) const;
};

/// The oldest drivers whose entry points and code Nereid uses: CUDA 11.8, and
/// HIP 6.0, the first with hipGetDevicePropertiesR0600.
inline constexpr int oldestCudaDriver = 11080, oldestHipDriver = 60000000;

/// What NEREID_CUDA_DRIVER=simulator or NEREID_HIP_DRIVER=simulator opens,
/// where the program has it (Runtime/gpu/simulated, which programs without a
/// compiler need not carry); with `always`, whatever the variable says. Before
/// loadDriver is first called.
using OpenDriver = Expected<std::unique_ptr<const Driver>> (*)();
void setSimulator(Device::Kind kind, OpenDriver open, bool always = false);

/// Loads and initialises the driver of cuda or hip devices once in the process:
/// the library of NEREID_CUDA_DRIVER or NEREID_HIP_DRIVER, else libcuda.so.1 or
/// libamdhip64.so. NotFound without a driver, Unsupported for one that is too
/// old; both say what to do.
Expected<const Driver *> loadDriver(Device::Kind kind);
/// The same for a library by name, every time again.
Expected<std::unique_ptr<const Driver>> openDriver(Device::Kind kind,
                                                   const std::string &library);

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_GPUDRIVER_H
