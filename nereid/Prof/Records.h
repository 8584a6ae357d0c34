//===- Records.h - What happened, as it is kept -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is recorded where it happens: its thread writes 72 bytes into memory
// that only this thread writes. A reader may look at any time: it sees the
// records up to the count, which is stored last.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_RECORDS_H
#define NEREID_PROF_RECORDS_H

#include "nereid/Runtime/Observer.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

namespace nereid::prof {

struct Record {
  enum class Kind : uint8_t {
    Launch,   ///< Kernel::launch, on the host's track
    HostWork, ///< of a host device, done by the launching thread and others
    Share,    ///< what one of these threads did
    QueuedActivity, ///< of a GPU, as it was queued
  };
  int64_t beginNs, endNs;
  const char *name, *symbol, *constants;
  uint64_t bytes;
  std::array<int32_t, 3> grid;
  uint16_t lane; ///< of a device's work (LaneTable)
  Kind kind;
  Activity::Kind work;
  uint32_t number; ///< of queued work, from 1
};

/// The records of one thread.
class ThreadRecords {
public:
  explicit ThreadRecords(std::atomic<size_t> &left);
  ~ThreadRecords();
  ThreadRecords(const ThreadRecords &) = delete;

  const int64_t tid;
  const std::string name;

  /// By this thread only. False where there is no room.
  bool add(const Record &record) {
    uint32_t n = last->count.load(std::memory_order_relaxed);
    if (n == chunkRecords) [[unlikely]] {
      if (!grow()) {
        return false;
      }
      n = 0;
    }
    last->records[n] = record;
    last->count.store(n + 1, std::memory_order_release);
    return true;
  }
  void addSlice(ObservedSlice slice) {
    std::lock_guard lock(mutex);
    slices.push_back(std::move(slice));
  }

  /// By any thread.
  template <typename F>
  void forEachRecord(F f) const {
    for (const Chunk *chunk = &first; chunk;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      uint32_t count = chunk->count.load(std::memory_order_acquire);
      for (uint32_t i = 0; i < count; ++i) {
        f(chunk->records[i]);
      }
    }
  }
  /// The slices stay where they are.
  template <typename F>
  void forEachSlice(F f) const {
    std::lock_guard lock(mutex);
    for (const ObservedSlice &slice : slices) {
      f(slice);
    }
  }

private:
  static constexpr uint32_t chunkRecords = 4096;
  struct Chunk {
    std::atomic<uint32_t> count = 0;
    std::atomic<Chunk *> next = nullptr;
    Record records[chunkRecords];
  };
  bool grow();

  std::atomic<size_t> &left; ///< records that all threads may still take
  Chunk first;
  Chunk *last = &first;
  mutable std::mutex mutex;
  std::deque<ObservedSlice> slices;
};

/// Devices and streams by small numbers.
class LaneTable {
public:
  struct Lane {
    Device device;
    gpu::StreamState *stream; ///< of a GPU
  };
  /// Only a new one takes the lock; `isNew` is set for one caller.
  uint16_t find(Device device, gpu::StreamState *stream, bool &isNew);
  Lane get(size_t i) const { return lanes[i]; }
  size_t size() const { return count.load(std::memory_order_acquire); }

private:
  static constexpr size_t most = 1024; ///< streams beyond share the last
  std::mutex mutex;
  std::array<Lane, most> lanes;
  std::atomic<size_t> count = 0;
};

} // namespace nereid::prof

#endif // NEREID_PROF_RECORDS_H
