//===- CudaDriver.h - NVIDIA's driver, loaded by name -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver is the only part of CUDA that Nereid needs, and it is looked for
// at run time: programs start on machines without it. The types are those of
// the driver's ABI; no header of NVIDIA's is used.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CUDA_CUDADRIVER_H
#define NEREID_RUNTIME_CUDA_CUDADRIVER_H

#include "nereid/ABI/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace nereid::cuda {

using Result = int; ///< CUresult; 0 is success
using DeviceId = int;
using DeviceAddress = uint64_t;
using ContextHandle = struct ContextObject *;
using StreamHandle = struct StreamObject *;
using EventHandle = struct EventObject *;
using ModuleHandle = struct ModuleObject *;
using FunctionHandle = struct FunctionObject *;
using GraphHandle = struct GraphObject *;
using GraphExecHandle = struct GraphExecObject *;

/// CUdevice_attribute.
enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  WarpSize = 10,
  ClockRateKHz = 13,
  MultiprocessorCount = 16,
  MemoryClockRateKHz = 36,
  MemoryBusWidthBits = 37,
  L2CacheBytes = 38,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  SharedBytesPerMultiprocessor = 81,
  RegistersPerMultiprocessor = 82,
  SharedBytesPerBlockOptin = 97,
};

/// CUfunction_attribute.
enum FunctionAttribute : int {
  StaticSharedBytes = 1,
  LocalBytes = 3, ///< a thread's spills and stack
  NumRegisters = 4,
  MaxDynamicSharedBytes = 8,
};

/// CUjit_option.
enum JitOption : int {
  JitMaxRegisters = 0,
  JitInfoLogBuffer = 3,
  JitInfoLogBytes = 4,
  JitErrorLogBuffer = 5,
  JitErrorLogBytes = 6,
  JitLogVerbose = 12,
};

/// CUresult values that are told apart.
enum ResultCode : Result {
  Success = 0,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidPtx = 218,
  UnsupportedPtxVersion = 222,
  NoBinaryForGpu = 209,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
};

/// Every entry point of CudaDriver.def. Thread-safe, as the driver is.
struct Driver {
#define NEREID_CUDA(name, symbol, parameters)                                  \
  Result(*name) parameters = nullptr;
#include "nereid/Runtime/cuda/CudaDriver.def"

  int version = 0; ///< 13000 for CUDA 13.0

  /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  std::string describe(Result result) const;
  /// Success, or a failure that says what was being done.
  Status check(Result result, const char *what) const;
};

/// The oldest driver whose entry points and PTX ISA Nereid uses: CUDA 11.8.
inline constexpr int oldestDriver = 11080;

/// Loads and initialises it once in the process. NotFound without a driver,
/// Unsupported for one that is too old; both say what to do.
Expected<const Driver *> loadDriver();

} // namespace nereid::cuda

#endif // NEREID_RUNTIME_CUDA_CUDADRIVER_H
