//===- GpuMemory.cpp - Device memory that is kept, and copies ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuMemory.h"

#include "nereid/Runtime/gpu/GpuCapture.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nereid::gpu {

/// Eight sizes for each doubling, so that at most an eighth is wasted; whole
/// pages of the device (2 MiB) for large blocks.
static size_t roundedBytes(size_t bytes) {
  constexpr size_t smallest = 512, page = size_t{2} << 20;
  bytes = std::max(bytes, smallest);
  size_t step = std::max(std::bit_floor(bytes - 1) / 8, smallest);
  if (bytes > 8 * page) {
    step = page;
  }
  return (bytes + step - 1) / step * step;
}

/// The largest block that is taken for so many bytes.
static size_t mostBytes(const Driver &driver, size_t bytes) {
  return driver.keepsExactBytes ? bytes : bytes + bytes / 4;
}

/// Gives a block back to the cache.
struct Memory::Releases {
  Memory &memory;
  BlockNode node;
  void operator()(void *) { memory.release(std::move(node)); }
};

Expected<std::shared_ptr<void>> Memory::allocate(size_t bytes) {
  size_t rounded = device.driver.keepsExactBytes ? std::max<size_t>(bytes, 1)
                                                 : roundedBytes(bytes);
  if (rounded < bytes) {
    return outOfMemory(bytes);
  }
  StreamState &stream = device.currentStream();
  if (Capture *recording = stream.capture.load()) {
    return allocateFor(*recording, bytes, rounded);
  }
  bool isRecording = false;
  BlockNode block = takeCached(rounded, &isRecording);
  if (!block) {
    Expected<BlockNode> made = obtain(bytes, rounded);
    if (!made.ok()) {
      return made.failure();
    }
    block = std::move(*made);
  }
  // While something is recorded, nothing uses what is cached (allocateFor), and
  // a stream that has joined the recording may not wait for what is older.
  for (const FreeMark &mark : block.mapped().marks) {
    if (mark.stream != stream.handle && !isRecording) {
      // What fails here fails again at the stream's next use, and is reported.
      device.driver.streamWaitEvent(stream.handle, mark.event, 0);
    }
  }
  std::shared_ptr<void> memory = owned(std::move(block));
  if (isRecording) {
    // The stream may have joined the recording: replays use the memory.
    std::lock_guard lock(mutex);
    if (capture) {
      capture->keep(memory);
      void *address = memory.get(); // counted apart, as in allocateFor
      return std::shared_ptr<void>(address,
                                   [memory = std::move(memory)](void *) {});
    }
  }
  return memory;
}

std::shared_ptr<void> Memory::owned(BlockNode node) {
  Block &block = node.mapped();
  dropMarks(block);
  {
    std::lock_guard lock(mutex);
    usedBytes += block.bytes;
  }
  notifyWatcher();
  auto *address = reinterpret_cast<void *>(block.address);
  return {address, Releases{*this, std::move(node)}};
}

Expected<std::shared_ptr<void>>
Memory::allocateFor(Capture &recording, size_t bytes, size_t rounded) {
  std::shared_ptr<void> memory;
  size_t size = rounded;
  {
    std::lock_guard lock(mutex);
    auto found = recording.idle.lower_bound(rounded);
    if (found != recording.idle.end() &&
        found->first <= mostBytes(device.driver, rounded)) {
      size = found->first;
      memory = std::move(found->second);
      recording.idle.erase(found);
    }
  }
  if (!memory) {
    // Nothing that was queued when the recording began still uses what is
    // cached (Capture::begin), and nothing is cached while one goes on.
    BlockNode block = takeCached(rounded);
    if (!block) {
      Expected<BlockNode> made = obtain(bytes, rounded);
      if (!made.ok()) {
        return made.failure();
      }
      block = std::move(*made);
    }
    memory = owned(std::move(block));
    recording.keep(memory);
  }
  // Handles are counted apart from the recording's own, so that
  // Tensor::isUnique says the same in a recording as outside one.
  void *address = memory.get();
  return std::shared_ptr<void>(address,
                               [this, memory = std::move(memory), size,
                                serial = recording.serial](void *) mutable {
                                 giveBack(serial, size, std::move(memory));
                               });
}

void Memory::giveBack(uint64_t serial, size_t bytes,
                      std::shared_ptr<void> memory) {
  // The recording's work is in one order, if one stream records it: one that
  // joined by an event could still use the memory.
  unsigned others = 0;
  device.forEachStream([&](StreamState &stream) {
    others += stream.usesMemory && !stream.capture && !stream.freesAfterJoin;
  });
  std::lock_guard lock(mutex);
  if (capture && capture->serial == serial && others < 2) {
    capture->idle.emplace(bytes, std::move(memory));
  }
}

BlockNode Memory::takeCached(size_t bytes, bool *isRecording) {
  std::lock_guard lock(mutex);
  if (isRecording) {
    *isRecording = capture;
  }
  auto found = cached.lower_bound(bytes);
  if (found == cached.end() || found->first > mostBytes(device.driver, bytes)) {
    return {};
  }
  cachedBytes -= found->first;
  return cached.extract(found);
}

void Memory::dropMarks(Block &block) {
  for (const FreeMark &mark : block.marks) {
    device.giveEvent(mark.event);
  }
  block.marks.clear();
}

Expected<BlockNode> Memory::obtain(size_t wanted, size_t rounded) {
  Status status = device.makeCurrent();
  if (!status.ok()) {
    return status.failure();
  }
  Block block{0, rounded, {}};
  Result result = device.driver.memAlloc(&block.address, rounded);
  if (result == OutOfMemory) {
    emptyCache();
    result = device.driver.memAlloc(&block.address, rounded);
  }
  if (result == OutOfMemory) {
    return outOfMemory(wanted);
  }
  status = device.check(result, "allocating device memory");
  if (!status.ok()) {
    return status.failure();
  }
  std::multimap<size_t, Block> one;
  return one.extract(one.emplace(rounded, std::move(block)));
}

Failure Memory::outOfMemory(size_t wanted) {
  size_t available = 0, total = 0;
  device.driver.memGetInfo(&available, &total);
  return {ErrorCode::OutOfMemory,
          device.name() + ": out of memory: " + std::to_string(wanted) +
              " bytes wanted, " + std::to_string(available) + " of " +
              std::to_string(total) +
              " bytes free; this process's tensors have " +
              std::to_string(use().usedBytes),
          {}};
}

void Memory::addMarks(Block &block) {
  unsigned running = 0;
  device.forEachStream([&](StreamState &stream) {
    running += stream.usesMemory && !stream.capture;
  });
  if (running < 2 || !device.makeCurrent().ok()) {
    return;
  }
  // Under the lock: no stream may end between being found and being marked.
  device.forEachStream([&](StreamState &stream) {
    if (!stream.usesMemory || stream.capture) {
      return;
    }
    Expected<EventHandle> event = device.takeEvent();
    if (event.ok() &&
        device.driver.eventRecord(*event, stream.handle) == Success) {
      block.marks.push_back({stream.handle, *event});
    }
  });
}

void Memory::notifyWatcher() {
  if (MemoryWatcher watcher = memoryWatcher.load(std::memory_order_relaxed)) {
    Use now = use();
    watcher(device.place, now.usedBytes, now.cachedBytes);
  }
}

void Memory::release(BlockNode node) {
  Block &block = node.mapped();
  addMarks(block);
  {
    std::lock_guard lock(mutex);
    if (capture) {
      capture->blocks.push_back(std::move(node));
      return;
    }
    usedBytes -= block.bytes;
    cachedBytes += block.bytes;
    cached.insert(std::move(node));
  }
  notifyWatcher();
}

void Memory::emptyCache() {
  std::multimap<size_t, Block> blocks;
  bool isRecording = false;
  {
    std::lock_guard lock(mutex);
    isRecording = capture;
    blocks.swap(cached);
    cachedBytes = 0;
  }
  if (blocks.empty() || !device.makeCurrent().ok()) {
    return;
  }
  // Kernels that use a freed block may still be queued; but for a recording,
  // when nothing is (Capture::begin), and waiting would end it.
  if (!isRecording) {
    device.driver.ctxSynchronize();
  }
  for (auto &[bytes, block] : blocks) {
    dropMarks(block);
    device.driver.memFree(block.address);
  }
  notifyWatcher();
}

Memory::Use Memory::use() {
  std::lock_guard lock(mutex);
  return {usedBytes, cachedBytes};
}

bool Memory::setCapture(Capture *wanted) {
  std::lock_guard lock(mutex);
  if (wanted && capture) {
    return false;
  }
  capture = wanted;
  return true;
}

} // namespace nereid::gpu
