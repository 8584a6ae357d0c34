//===- Cupti.h - NVIDIA's CUPTI, loaded by name -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The activity API, and of its records what Nereid reads. NVIDIA numbers the
// structures (CUpti_ActivityKernel4 to Kernel10, ...) and only ever adds
// members after those that there are; the ones below begin all versions from
// CUDA 11 to CUDA 13. The offsets were taken with offsetof from the headers of
// CUDA 13.0, which describe the older versions, too.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_CUPTI_H
#define NEREID_PROF_CUPTI_H

#include "nereid/ABI/Status.h"
#include "nereid/Runtime/gpu/GpuDriver.h"

#include <cstddef>
#include <memory>

namespace nereid::prof::cupti {

using Result = int; ///< CUptiResult
inline constexpr Result Success = 0;

/// CUpti_ActivityKind.
enum Kind : int { Memcpy = 1, Memset = 2, ConcurrentKernel = 10, Memcpy2 = 22 };

/// CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: records that are not complete, too.
inline constexpr uint32_t flushForced = 1;

/// How every record begins.
struct Activity {
  int32_t kind;
};

/// CUpti_ActivityKernel4 ... 10.
struct KernelActivity {
  int32_t kind;
  uint8_t cacheConfig, sharedMemoryConfig;
  uint16_t registersPerThread;
  int32_t cacheRequested, cacheExecuted;
  uint64_t start, end, completed; ///< ns
  uint32_t deviceId, contextId, streamId;
  int32_t grid[3], block[3];
  int32_t staticSharedMemory, dynamicSharedMemory;
  uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
  int64_t gridId;
  const char *name;
};
static_assert(offsetof(KernelActivity, start) == 16);
static_assert(offsetof(KernelActivity, deviceId) == 40);
static_assert(offsetof(KernelActivity, grid) == 52);
static_assert(offsetof(KernelActivity, correlationId) == 92);
static_assert(offsetof(KernelActivity, name) == 104);

/// CUpti_ActivityMemcpy ... 6, and of MemcpyPtoP ... 4 what is the same.
struct MemcpyActivity {
  int32_t kind;
  uint8_t copyKind, sourceKind, destinationKind, flags;
  uint64_t bytes, start, end;
  uint32_t deviceId, contextId, streamId;
};
static_assert(offsetof(MemcpyActivity, bytes) == 8);
static_assert(offsetof(MemcpyActivity, streamId) == 40);

/// CUpti_ActivityMemset ... 4.
struct MemsetActivity {
  int32_t kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t deviceId, contextId, streamId;
};
static_assert(offsetof(MemsetActivity, streamId) == 40);

/// CUpti_ActivityMemcpyKind.
enum CopyKind : uint8_t { HostToDevice = 1, DeviceToHost = 2, Peer = 10 };

using BufferRequested = void (*)(uint8_t **buffer, size_t *bytes,
                                 size_t *mostRecords);
using BufferCompleted = void (*)(gpu::ContextHandle context, uint32_t stream,
                                 uint8_t *buffer, size_t bytes,
                                 size_t validBytes);

struct Library {
  Result (*getVersion)(uint32_t *version) = nullptr;
  Result (*getResultString)(Result result, const char **text) = nullptr;
  Result (*getTimestamp)(uint64_t *ns) = nullptr;
  Result (*getStreamId)(gpu::ContextHandle context, gpu::StreamHandle stream,
                        uint8_t isPerThread, uint32_t *id) = nullptr;
  Result (*registerCallbacks)(BufferRequested requested,
                              BufferCompleted completed) = nullptr;
  Result (*enable)(int kind) = nullptr;
  Result (*disable)(int kind) = nullptr;
  Result (*flushAll)(uint32_t flags) = nullptr;
  Result (*getNextRecord)(uint8_t *buffer, size_t validBytes,
                          Activity **record) = nullptr;
  Result (*getDropped)(gpu::ContextHandle context, uint32_t stream,
                       size_t *count) = nullptr;

  uint32_t version = 0;
  std::string name;

  std::string describe(Result result) const;
};

/// The library of NEREID_CUPTI, or where NVIDIA's installers put it. It stays
/// loaded: it has threads.
Expected<const Library *> load();

} // namespace nereid::prof::cupti

#endif // NEREID_PROF_CUPTI_H
