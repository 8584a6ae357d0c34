//===- GpuMemory.h - Device memory that is kept, and copies ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuMemAlloc waits for the device (docs/Runtime.md, "Memory"), so freed blocks
// are kept by size and handed out again. A block is free for new work as soon
// as its tensor is gone although kernels that use it may still be queued: work
// on one stream runs in order. Where there are several streams, a freed block
// carries an event of each, and the stream that takes it waits for them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_GPUMEMORY_H
#define NEREID_RUNTIME_GPU_GPUMEMORY_H

#include "nereid/Runtime/gpu/GpuDriver.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace nereid::gpu {

class DeviceState;
class StreamState;
struct Capture;

/// A stream's work up to now, when a block was freed.
struct FreeMark {
  StreamHandle stream;
  EventHandle event;
};

struct Block {
  DeviceAddress address = 0;
  size_t bytes = 0;
  std::vector<FreeMark> marks;
};

/// One on its way between the cache and its user, in the cache's own
/// allocation, by its bytes.
using BlockNode = std::multimap<size_t, Block>::node_type;

/// Gets every change of a device's memory, where it is set (by
/// nereid/Runtime/Observer.h): bytes in use, and bytes kept for later.
using MemoryWatcher = void (*)(Device device, uint64_t used, uint64_t cached);
inline constinit std::atomic<MemoryWatcher> memoryWatcher = nullptr;

class Memory {
public:
  explicit Memory(DeviceState &device) : device(device) {}

  /// At least `bytes` bytes, 512-byte aligned, for the current stream. The
  /// block is free again when the last copy of the pointer is gone.
  Expected<std::shared_ptr<void>> allocate(size_t bytes);
  /// Gives what is not in use back to the driver.
  void emptyCache();

  struct Use {
    uint64_t usedBytes = 0, cachedBytes = 0;
  };
  Use use();

  /// While set, freed blocks and those allocated by the capturing stream stay
  /// with the capture, since its graph goes on using them. The device's work
  /// from before must have ended. False when there is another.
  bool setCapture(Capture *capture);
  void release(BlockNode node);

private:
  struct Releases;
  /// Memory of a recording, used again within it where one stream records.
  Expected<std::shared_ptr<void>> allocateFor(Capture &recording, size_t bytes,
                                              size_t rounded);
  void giveBack(uint64_t serial, size_t bytes, std::shared_ptr<void> memory);
  std::shared_ptr<void> owned(BlockNode node);
  /// `isRecording`: does a recording go on?
  /// Empty: there is none.
  BlockNode takeCached(size_t bytes, bool *isRecording = nullptr);
  void dropMarks(Block &block);
  Expected<BlockNode> obtain(size_t wanted, size_t rounded);
  Failure outOfMemory(size_t wanted);
  void addMarks(Block &block);
  void notifyWatcher();

  DeviceState &device;
  std::mutex mutex;
  std::multimap<size_t, Block> cached;
  uint64_t usedBytes = 0, cachedBytes = 0;
  Capture *capture = nullptr;
};

/// Pinned memory through which host memory is copied: the device can only
/// fetch from pinned pages, and user's arrays are not.
class Staging {
public:
  explicit Staging(DeviceState &device) : device(device) {}

  /// `from` may be changed as soon as this returns.
  Status upload(StreamState &stream, DeviceAddress to, const void *from,
                size_t bytes);
  /// Returns when `to` has the bytes.
  Status download(StreamState &stream, void *to, DeviceAddress from,
                  size_t bytes);

private:
  static constexpr size_t chunkBytes = size_t{4} << 20;
  struct Chunk {
    std::byte *memory = nullptr;
    EventHandle done = nullptr;
    bool busy = false;
  };
  Status prepare();
  Status waitFor(Chunk &chunk, StreamState &stream);

  DeviceState &device;
  std::mutex mutex;
  Chunk chunks[2];
};

/// `to` and `from` are of the streams' devices, which one driver has; ordered
/// with both streams.
Status copyOnDevices(StreamState &toStream, DeviceAddress to,
                     StreamState &fromStream, DeviceAddress from, size_t bytes);

/// `count` elements of 1, 2 or 4 bytes.
Status fill(StreamState &stream, DeviceAddress to, uint32_t element,
            size_t elementBytes, size_t count);

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_GPUMEMORY_H
