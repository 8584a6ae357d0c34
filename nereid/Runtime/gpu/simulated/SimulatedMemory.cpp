//===- SimulatedMemory.cpp - Memory and copies ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"

#include <cstdlib>
#include <cstring>

namespace nereid::gpu::simulated {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Small blocks hold NaNs at first, as memory of a GPU holds anything. With
/// `pages` a kernel may touch all of a block's pages, as on a GPU; else what
/// was asked for.
static void *allocate(size_t bytes) {
  constexpr size_t pageBytes = size_t{2} << 20, filled = size_t{16} << 20;
  bool hasPages = world().options.hasPages;
  size_t unit = hasPages ? pageBytes : 512;
  size_t whole = (std::max<size_t>(bytes, 1) + unit - 1) / unit * unit;
  void *memory = std::aligned_alloc(unit, whole);
  if (!memory) {
    return nullptr;
  }
  if (bytes <= filled) {
    std::memset(memory, 0xff, bytes);
  }
  world().memory.add(reinterpret_cast<uint64_t>(memory),
                     hasPages ? whole : bytes);
  return memory;
}

Result memAlloc(DeviceAddress *address, size_t bytes) {
  World &all = world();
  if (all.memory.totalBytes() + bytes > all.memoryBytes) {
    return OutOfMemory;
  }
  void *memory = allocate(bytes);
  if (!memory) {
    return OutOfMemory;
  }
  *address = reinterpret_cast<DeviceAddress>(memory);
  return Success;
}

Result memFree(DeviceAddress address) {
  if (!address) {
    return Success;
  }
  runAll();
  if (!world().memory.remove(address)) {
    return invalidValue;
  }
  std::free(reinterpret_cast<void *>(address));
  return Success;
}

Result memGetInfo(size_t *available, size_t *total) {
  *total = world().memoryBytes;
  *available = *total - std::min(*total, world().memory.totalBytes());
  return Success;
}

Result memHostAlloc(void **memory, size_t bytes, unsigned) {
  *memory = allocate(bytes);
  return *memory ? Success : OutOfMemory;
}

Result memHostGetDevicePointer(DeviceAddress *address, void *memory, unsigned) {
  *address = reinterpret_cast<DeviceAddress>(memory);
  return Success;
}

Result memFreeHost(void *memory) {
  return memFree(reinterpret_cast<DeviceAddress>(memory));
}

static bool holds(DeviceAddress address, size_t bytes) {
  return !bytes || world().memory.find(address).contains(address, bytes);
}

/// Other memory of the host is copied from, or to, before a call returns.
static bool isPinned(const void *memory, size_t bytes) {
  return holds(reinterpret_cast<DeviceAddress>(memory), bytes);
}

static Result copy(void *to, const void *from, size_t bytes) {
  std::memmove(to, from, bytes);
  return Success;
}

Result memcpyAsync(DeviceAddress to, DeviceAddress from, size_t bytes,
                   StreamHandle stream) {
  return enqueue(stream, [=] {
    return copy(reinterpret_cast<void *>(to),
                reinterpret_cast<const void *>(from), bytes);
  });
}

Result memcpyHtoDAsync(DeviceAddress to, const void *from, size_t bytes,
                       StreamHandle stream) {
  if (!holds(to, bytes)) {
    return invalidValue;
  }
  if (!world().options.isLazy || isPinned(from, bytes)) {
    return enqueue(stream, [=] {
      return copy(reinterpret_cast<void *>(to), from, bytes);
    });
  }
  const auto *begin = static_cast<const unsigned char *>(from);
  return enqueue(
      stream, [to, staged = std::vector<unsigned char>(begin, begin + bytes)] {
        return copy(reinterpret_cast<void *>(to), staged.data(), staged.size());
      });
}

Result memcpyDtoHAsync(void *to, DeviceAddress from, size_t bytes,
                       StreamHandle stream) {
  if (!holds(from, bytes)) {
    return invalidValue;
  }
  Result result = enqueue(stream, [=] {
    return copy(to, reinterpret_cast<const void *>(from), bytes);
  });
  return result || isPinned(to, bytes) ? result : finish(stream);
}

Result memcpyPeerAsync(DeviceAddress to, ContextHandle, DeviceAddress from,
                       ContextHandle, size_t bytes, StreamHandle stream) {
  return memcpyAsync(to, from, bytes, stream);
}

template <typename T>
static Result fill(DeviceAddress to, T value, size_t count,
                   StreamHandle stream) {
  if (!holds(to, count * sizeof(T))) {
    return invalidValue;
  }
  return enqueue(stream, [=] {
    std::fill_n(reinterpret_cast<T *>(to), count, value);
    return Success;
  });
}

Result memsetD8Async(DeviceAddress to, unsigned char value, size_t bytes,
                     StreamHandle stream) {
  return fill(to, value, bytes, stream);
}

Result memsetD16Async(DeviceAddress to, unsigned short value, size_t count,
                      StreamHandle stream) {
  return fill(to, value, count, stream);
}

Result memsetD32Async(DeviceAddress to, unsigned value, size_t count,
                      StreamHandle stream) {
  return fill(to, value, count, stream);
}

} // namespace nereid::gpu::simulated
