//===- HostMemory.cpp - Memory of tensors on the host ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/HostMemory.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Observer.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

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

namespace {

/// Blocks of whole pages that tensors have left, for later ones. The system's
/// own way is to take such memory back, and to clear a page for each that is
/// touched again (docs/decisions/Host.md).
class HostCache {
public:
  void *allocate(size_t rounded, size_t align);
  void release(void *memory, size_t rounded);
  void empty();
  uint64_t bytes();

private:
  /// Gives blocks back, the largest first, until no more than `most` are kept.
  void shrink(uint64_t most);
  static uint64_t limit();

  std::mutex mutex;
  /// By their bytes; the one that was left last is taken first.
  std::map<size_t, std::vector<void *>> blocks;
  /// Kept; of tensors, now and at most. The first two never exceed the third by
  /// more than a quarter: the process is not much larger than its tensors have
  /// once been, and blocks of other sizes outlast that moment.
  uint64_t kept = 0, live = 0, most = 0;
};

} // namespace

/// Never destroyed: tensors of static objects may outlive it.
static HostCache &cache() {
  static HostCache *instance = new HostCache;
  return *instance;
}

/// An eighth of the machine's memory. Nothing for tools that look for uses of
/// freed memory.
uint64_t HostCache::limit() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return 0;
#endif
#endif
  return thisMachine().memoryBytes / 8;
}

void HostCache::shrink(uint64_t wanted) {
  while (kept > wanted) {
    auto largest = std::prev(blocks.end());
    std::free(largest->second.back());
    largest->second.pop_back();
    kept -= largest->first;
    if (largest->second.empty()) {
      blocks.erase(largest);
    }
  }
}

void *HostCache::allocate(size_t rounded, size_t align) {
  std::lock_guard lock(mutex);
  void *memory = nullptr;
  auto found = blocks.find(rounded);
  if (found != blocks.end()) {
    memory = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) {
      blocks.erase(found);
    }
    kept -= rounded;
  } else {
    uint64_t then = live + rounded, all = std::max(most, then);
    shrink(all + all / 4 - then);
    memory = std::aligned_alloc(align, rounded);
    if (!memory) {
      shrink(0);
      memory = std::aligned_alloc(align, rounded);
    }
    if (!memory) {
      return nullptr;
    }
    if (align == hugePageBytes) {
      ::madvise(memory, rounded, MADV_HUGEPAGE);
    }
  }
  live += rounded;
  most = std::max(most, live);
  return memory;
}

void HostCache::release(void *memory, size_t rounded) {
  std::lock_guard lock(mutex);
  live -= rounded;
  if (kept + rounded > limit()) {
    std::free(memory);
    return;
  }
  try {
    blocks[rounded].push_back(memory);
    kept += rounded;
  } catch (const std::bad_alloc &) { // not even for the list
    std::free(memory);
    if (auto found = blocks.find(rounded);
        found != blocks.end() && found->second.empty()) {
      blocks.erase(found);
    }
  }
}

void HostCache::empty() {
  std::lock_guard lock(mutex);
  shrink(0);
  most = live;
}

uint64_t HostCache::bytes() {
  std::lock_guard lock(mutex);
  return kept;
}

void emptyHostCache() { cache().empty(); }
uint64_t hostMemoryCached() { return cache().bytes(); }

/// Eight sizes for each doubling, so that a block fits many tensors.
static size_t sizeOfBlock(size_t bytes, size_t align) {
  return roundUp(bytes, std::max(std::bit_floor(bytes) / 8, align));
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
  if (align != lineBytes) {
    size_t rounded = sizeOfBlock(bytes, align);
    void *memory = cache().allocate(rounded, align);
    if (!memory) {
      return nullptr;
    }
    noteUse(bytes);
    return {memory, [bytes, rounded](void *data) {
              cache().release(data, rounded);
              noteUse(-uint64_t{bytes});
            }};
  }
  void *memory = std::aligned_alloc(align, roundUp(bytes, align));
  if (!memory) {
    return nullptr;
  }
  noteUse(bytes);
  return {memory, [bytes](void *data) {
            std::free(data);
            noteUse(-uint64_t{bytes});
          }};
}

} // namespace nereid
