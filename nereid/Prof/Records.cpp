//===- Records.cpp - What happened, as it is kept -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Records.h"

#include <algorithm>
#include <pthread.h>
#include <unistd.h>

namespace nereid::prof {

static std::string nameOfThread(int64_t tid) {
  if (tid == ::getpid()) {
    return "main thread";
  }
  char name[32] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof(name));
  return "thread " + std::to_string(tid) +
         (*name ? " (" + std::string(name) + ")" : "");
}

/// Pages that are written here are not fetched during a launch.
ThreadRecords::ThreadRecords(std::atomic<size_t> &left)
    : tid(::gettid()), name(nameOfThread(tid)), left(left), first() {}

ThreadRecords::~ThreadRecords() {
  for (Chunk *chunk = first.next; chunk;) {
    delete std::exchange(chunk, chunk->next.load());
  }
}

bool ThreadRecords::grow() {
  size_t room = left.load(std::memory_order_relaxed);
  do {
    if (room < chunkRecords) {
      return false;
    }
  } while (!left.compare_exchange_weak(room, room - chunkRecords));
  auto *chunk = new (std::nothrow) Chunk();
  if (!chunk) {
    return false;
  }
  last->next.store(chunk, std::memory_order_release);
  last = chunk;
  return true;
}

uint16_t LaneTable::find(Device device, gpu::StreamState *stream, bool &isNew) {
  auto search = [&](size_t begin, size_t end) {
    while (begin < end &&
           (lanes[begin].device != device || lanes[begin].stream != stream)) {
      ++begin;
    }
    return begin;
  };
  size_t known = size(), found = search(0, known);
  if (found < known) {
    return static_cast<uint16_t>(found);
  }
  std::lock_guard lock(mutex);
  size_t now = count.load();
  found = search(known, now);
  if (found == now && now < most) {
    isNew = true;
    lanes[now] = {device, stream};
    count.store(now + 1, std::memory_order_release);
  }
  return static_cast<uint16_t>(std::min(found, most - 1));
}

} // namespace nereid::prof
