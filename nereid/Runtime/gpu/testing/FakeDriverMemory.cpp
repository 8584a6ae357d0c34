//===- FakeDriverMemory.cpp - Memory of the fake driver -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/testing/FakeWorld.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace nereid::gpu;

namespace {

bool isPinned(const void *memory) {
  auto *p = static_cast<std::byte *>(const_cast<void *>(memory));
  auto after = world().pinned.upper_bound(p);
  return after != world().pinned.begin() &&
         p < std::prev(after)->first + std::prev(after)->second;
}

/// Is it all inside one allocation?
bool isDeviceMemory(DeviceAddress address, size_t bytes) {
  for (auto &blocks : world().blocks) {
    auto after = blocks.upper_bound(address);
    if (after != blocks.begin()) {
      auto [begin, size] = *std::prev(after);
      if (address + bytes <= begin + size) {
        return true;
      }
    }
  }
  return false;
}

template <typename T>
T *at(DeviceAddress address) {
  return reinterpret_cast<T *>(address);
}

template <typename T>
Result fillWith(const char *symbol, DeviceAddress to, T value, size_t count,
                StreamHandle stream) {
  if (Result result = enter(symbol)) {
    return result;
  }
  if (!isDeviceMemory(to, count * sizeof(T))) {
    return invalidValue;
  }
  push(stream, [=] { std::fill_n(at<T>(to), count, value); });
  return Success;
}

} // namespace

extern "C" {

Result cuMemAlloc_v2(DeviceAddress *address, size_t bytes) {
  NEREID_FAKE("cuMemAlloc_v2");
  if (!current) {
    return InvalidContext;
  }
  auto &blocks = world().blocks[current->device];
  size_t used = 0;
  DeviceAddress next = reinterpret_cast<DeviceAddress>(world().arena) +
                       static_cast<size_t>(current->device) * arenaBytes + 4096;
  for (auto [begin, size] : blocks) {
    used += size;
    next = std::max(next, (begin + size + 4096) / 512 * 512);
  }
  if (used + bytes > fakeDriver().memoryBytes) {
    return OutOfMemory;
  }
  blocks[next] = bytes;
  *address = next;
  return Success;
}

Result cuMemFree_v2(DeviceAddress address) {
  NEREID_FAKE("cuMemFree_v2");
  drainAll();
  for (auto &blocks : world().blocks) {
    auto found = blocks.find(address);
    if (found != blocks.end()) {
      // Untouched pages make opening and closing the rest fast.
      auto begin = (address + 4095) / 4096 * 4096;
      auto end = (address + found->second) / 4096 * 4096;
      if (begin < end) {
        ::madvise(at<void>(begin), end - begin, MADV_DONTNEED);
      }
      blocks.erase(found);
      return Success;
    }
  }
  return invalidValue;
}

Result cuMemGetInfo_v2(size_t *available, size_t *total) {
  std::lock_guard lock(world().mutex);
  *total = fakeDriver().memoryBytes;
  *available = *total;
  for (auto [begin, size] : world().blocks[current ? current->device : 0]) {
    *available -= size;
  }
  return Success;
}

Result cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  NEREID_FAKE("cuMemHostAlloc");
  auto *made = new std::byte[bytes];
  world().pinned[made] = bytes;
  *memory = made;
  return Success;
}

Result cuMemHostGetDevicePointer_v2(DeviceAddress *address, void *memory,
                                    unsigned) {
  *address = reinterpret_cast<DeviceAddress>(memory);
  return Success;
}

Result cuMemFreeHost(void *memory) {
  std::lock_guard lock(world().mutex);
  world().pinned.erase(static_cast<std::byte *>(memory));
  delete[] static_cast<std::byte *>(memory);
  return Success;
}

Result cuMemcpyAsync(DeviceAddress to, DeviceAddress from, size_t bytes,
                     StreamHandle stream) {
  NEREID_FAKE("cuMemcpyAsync");
  if (!isDeviceMemory(to, bytes) || !isDeviceMemory(from, bytes)) {
    return invalidValue;
  }
  push(stream,
       [=] { std::memmove(at<std::byte>(to), at<std::byte>(from), bytes); });
  return Success;
}

Result cuMemcpyPeerAsync(DeviceAddress to, ContextHandle, DeviceAddress from,
                         ContextHandle, size_t bytes, StreamHandle stream) {
  ++fakeDriver().calls["cuMemcpyPeerAsync"];
  return cuMemcpyAsync(to, from, bytes, stream);
}

Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void *from, size_t bytes,
                            StreamHandle stream) {
  NEREID_FAKE("cuMemcpyHtoDAsync_v2");
  if (!isDeviceMemory(to, bytes)) {
    return invalidValue;
  }
  if (isPinned(from)) {
    push(stream, [=] { std::memcpy(at<void>(to), from, bytes); });
    return Success;
  }
  std::vector<std::byte> copy(bytes);
  std::memcpy(copy.data(), from, bytes);
  push(stream, [to, copy = std::move(copy)] {
    std::memcpy(at<void>(to), copy.data(), copy.size());
  });
  return Success;
}

Result cuMemcpyDtoHAsync_v2(void *to, DeviceAddress from, size_t bytes,
                            StreamHandle stream) {
  NEREID_FAKE("cuMemcpyDtoHAsync_v2");
  if (!isDeviceMemory(from, bytes)) {
    return invalidValue;
  }
  push(stream, [=] { std::memcpy(to, at<void>(from), bytes); });
  return Success;
}

Result cuMemsetD8Async(DeviceAddress to, unsigned char value, size_t count,
                       StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  return fillWith("cuMemsetD8Async", to, value, count, stream);
}

Result cuMemsetD16Async(DeviceAddress to, unsigned short value, size_t count,
                        StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  return fillWith("cuMemsetD16Async", to, value, count, stream);
}

Result cuMemsetD32Async(DeviceAddress to, unsigned value, size_t count,
                        StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  return fillWith("cuMemsetD32Async", to, value, count, stream);
}

} // extern "C"
