//===- PeakMemory.h - The most that tensors held ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of tensors, not of the process: what a device's allocator has handed
// out, without what it keeps for later.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_PEAKMEMORY_H
#define NEREID_BENCH_PEAKMEMORY_H

#include "nereid/Runtime/Device.h"

#include <cstdint>
#include <functional>

namespace nereid::bench {

struct MemoryUse {
  uint64_t peak = 0; ///< bytes at the worst moment, beyond those before
  int64_t left = 0;  ///< bytes that are held still, beyond those before
};

/// What tensors of `device` took while `work` ran, on all threads. Raises where
/// another observer watches (nereid/Runtime/Observer.h).
MemoryUse memoryOf(Device device, const std::function<void()> &work);

} // namespace nereid::bench

#endif // NEREID_BENCH_PEAKMEMORY_H
