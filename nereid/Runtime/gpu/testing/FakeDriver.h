//===- FakeDriver.h - Drivers without a GPU ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: the entry points of GpuDriver.def over host memory, in a shared
// library that loadDriver loads like the real ones: it is CUDA's driver and
// HIP's library. Two devices of each.
//
// It is as unforgiving as the real driver where a mistake would go unseen
// otherwise: work of a stream runs only when something waits for it; memory of
// a device cannot be touched outside of that work (the process faults); pinned
// memory is read when the copy runs, other memory when it is queued; every call
// after a fatal failure fails. Kernels are functions of the test.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_TESTING_FAKEDRIVER_H
#define NEREID_RUNTIME_GPU_TESTING_FAKEDRIVER_H

#include "nereid/Runtime/gpu/GpuDriver.h"

#include <functional>
#include <map>
#include <vector>

namespace nereid::gpu {

/// One launch, as a fake kernel sees it.
struct FakeKernelCall {
  unsigned grid[3], threads, sharedBytes;
  std::vector<uint64_t> values; ///< one a parameter, zero-extended

  template <typename T>
  T *pointer(size_t i) const {
    return reinterpret_cast<T *>(values[i]);
  }
};

struct FakeFunction {
  std::vector<size_t> parameterBytes;
  std::function<void(const FakeKernelCall &)> run;
  int registers = 16, localBytes = 0, staticSharedBytes = 0;
  int maxThreads = 1024;
  double milliseconds = 0.01; ///< what a launch adds to the clock
};

struct FakeDriver {
  int version = 12040, hipVersion = 60300000;
  /// Of hip:0 and hip:1, as the library has them: an architecture and features.
  std::string architectures[2] = {"gfx942:sramecc+:xnack-", "gfx1100"};
  /// By the entry's name in the PTX or code object.
  std::map<std::string, FakeFunction> functions;
  size_t memoryBytes = size_t{64} << 20; ///< of each device
  /// A symbol's next call returns this, once.
  std::map<std::string, Result> failNext;
  /// Not 0: every call returns it. A kernel may set it.
  Result fatal = Success;
  /// What events measure; kernels may advance it.
  double clockMs = 0;
  /// Calls of each symbol since reset.
  std::map<std::string, int> calls;
  /// PTX has been assembled before, and no log is written.
  bool hasMachineCode = false;
  /// The options of the last PTX that was loaded.
  std::map<int, size_t> jitOptions;
  std::map<std::string, int> functionAttributes; ///< "name:attribute"
  /// Launches that may begin before the one in front of them has ended.
  int dependentLaunches = 0;

  /// Everything as at first, but for memory and streams that exist.
  void reset();
};

/// The one in the library.
__attribute__((visibility("default"))) FakeDriver &fakeDriver();

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_TESTING_FAKEDRIVER_H
