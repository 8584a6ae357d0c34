//===- HostMemory.cpp - Memory of tensors on the host ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/HostMemory.h"

#include "nereid/Runtime/Observer.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace nereid {

static constexpr size_t lineBytes = 64, pageBytes = 4096,
                        hugePageBytes = size_t{2} << 20;
/// On each side. A block of 256 K elements that begins inside still ends here.
static constexpr size_t guardBytes = size_t{1} << 20;

static std::atomic<bool> isGuarded = false;
/// Of the tensors of this process.
static std::atomic<uint64_t> usedBytes = 0;

void guardHostMemory() { isGuarded = true; }

static size_t roundUp(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

static bool takesHugePages(size_t bytes) { return bytes >= 2 * hugePageBytes; }

uint64_t hostMemoryUse() { return usedBytes; }

static void noteUse(uint64_t change) {
  uint64_t used = usedBytes.fetch_add(change) + change;
  if (isObserved()) {
    if (std::shared_ptr<Observer> observer = currentObserver()) {
      observer->memory(Device::cpu(), used, 0);
    }
  }
}

/// One mapping without rights, whose middle gets them.
static std::shared_ptr<void> allocateBetweenGuards(size_t bytes) {
  bool isHuge = takesHugePages(bytes);
  size_t align = isHuge ? hugePageBytes : pageBytes;
  size_t body = roundUp(bytes, pageBytes);
  size_t size = guardBytes + align + body + guardBytes;
  void *base = ::mmap(nullptr, size, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return nullptr;
  }
  auto first = reinterpret_cast<uintptr_t>(base) + guardBytes;
  auto *begin =
      static_cast<char *>(base) + guardBytes + (roundUp(first, align) - first);
  if (::mprotect(begin, body, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(base, size);
    return nullptr;
  }
  if (isHuge) {
    ::madvise(begin, body, MADV_HUGEPAGE);
  }
  void *data = isHuge ? begin : begin + body - roundUp(bytes, lineBytes);
  noteUse(bytes);
  return {data, [base, size, bytes](void *) {
            ::munmap(base, size);
            noteUse(-uint64_t{bytes});
          }};
}

std::shared_ptr<void> allocateHostMemory(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > SIZE_MAX / 2) {
    return nullptr;
  }
  if (isGuarded.load(std::memory_order_relaxed)) {
    if (std::shared_ptr<void> memory = allocateBetweenGuards(bytes)) {
      return memory;
    }
  }
  size_t align = takesHugePages(bytes) ? hugePageBytes
                 : bytes >= pageBytes  ? pageBytes
                                       : lineBytes;
  size_t rounded = roundUp(bytes, align);
  void *memory = std::aligned_alloc(align, rounded);
  if (!memory) {
    return nullptr;
  }
  if (align == hugePageBytes) {
    ::madvise(memory, rounded, MADV_HUGEPAGE);
  }
  noteUse(bytes);
  return {memory, [bytes](void *data) {
            std::free(data);
            noteUse(-uint64_t{bytes});
          }};
}

} // namespace nereid
