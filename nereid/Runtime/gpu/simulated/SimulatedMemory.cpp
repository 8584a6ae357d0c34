//===- SimulatedMemory.cpp - Memory, copies, streams, graphs --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace nereid::gpu::simulated {

Result enqueue(StreamHandle stream, std::function<Result()> work) {
  if (stream && stream->isCapturing) {
    stream->captured.push_back(std::move(work));
    return Success;
  }
  if (Result fatal = world().fatal) {
    return fatal;
  }
  return work();
}

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
  return enqueue(
      stream, [=] { return copy(reinterpret_cast<void *>(to), from, bytes); });
}

Result memcpyDtoHAsync(void *to, DeviceAddress from, size_t bytes,
                       StreamHandle stream) {
  if (!holds(from, bytes)) {
    return invalidValue;
  }
  return enqueue(stream, [=] {
    return copy(to, reinterpret_cast<const void *>(from), bytes);
  });
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

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

Result streamCreate(StreamHandle *stream, unsigned) {
  *stream = new StreamObject;
  return Success;
}

Result streamDestroy(StreamHandle stream) {
  delete stream;
  return Success;
}

Result streamSynchronize(StreamHandle stream) {
  constexpr Result captureUnsupported = 900;
  return stream && stream->isCapturing ? captureUnsupported
                                       : Result(world().fatal);
}

Result streamQuery(StreamHandle) { return world().fatal; }

Result streamWaitEvent(StreamHandle, EventHandle, unsigned) { return Success; }

Result streamBeginCapture(StreamHandle stream, int) {
  stream->isCapturing = true;
  return Success;
}

Result streamEndCapture(StreamHandle stream, GraphHandle *graph) {
  stream->isCapturing = false;
  *graph = new GraphObject{std::move(stream->captured)};
  stream->captured.clear();
  return Success;
}

Result eventCreate(EventHandle *event, unsigned) {
  *event = new EventObject;
  return Success;
}

Result eventDestroy(EventHandle event) {
  delete event;
  return Success;
}

Result eventRecord(EventHandle event, StreamHandle stream) {
  return enqueue(stream, [=] {
    event->milliseconds =
        std::chrono::duration<double, std::milli>(
            std::chrono::steady_clock::now().time_since_epoch())
            .count();
    return Success;
  });
}

Result eventSynchronize(EventHandle) { return world().fatal; }

Result eventQuery(EventHandle) { return world().fatal; }

Result eventElapsedTime(float *ms, EventHandle start, EventHandle end) {
  *ms = float(end->milliseconds - start->milliseconds);
  return Success;
}

Result graphInstantiate(GraphExecHandle *exec, GraphHandle graph,
                        unsigned long long) {
  *exec = new GraphExecObject{graph->work};
  return Success;
}

Result graphGetNodes(GraphHandle graph, GraphNodeHandle *, size_t *count) {
  *count = graph->work.size();
  return Success;
}

Result graphLaunch(GraphExecHandle exec, StreamHandle stream) {
  for (const auto &work : exec->work) {
    if (Result result = enqueue(stream, work)) {
      return result;
    }
  }
  return Success;
}

Result graphDestroy(GraphHandle graph) {
  delete graph;
  return Success;
}

Result graphExecDestroy(GraphExecHandle exec) {
  delete exec;
  return Success;
}

} // namespace nereid::gpu::simulated
