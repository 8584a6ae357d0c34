//===- GpuCopy.cpp - Copies between host and devices ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"

#include <algorithm>
#include <cstring>

namespace nereid::gpu {

/// Up to here the driver's own staging is as good: it takes the bytes into the
/// command itself.
static constexpr size_t directBytes = size_t{64} << 10;

static Status refuseInCapture(StreamState &stream) {
  // synchronize() knows what to say.
  return stream.capture ? stream.synchronize() : Status::success();
}

Status Staging::prepare() {
  if (chunks[1].done) {
    return Status::success();
  }
  for (Chunk &chunk : chunks) {
    if (!chunk.memory) {
      void *memory = nullptr;
      Status status = device.check(
          device.driver.memHostAlloc(&memory, chunkBytes, hostPortableMapped),
          "allocating pinned memory for copies");
      if (!status.ok()) {
        return status;
      }
      chunk.memory = static_cast<std::byte *>(memory);
    }
    Expected<EventHandle> event = device.takeEvent();
    if (!event.ok()) {
      return event.status();
    }
    chunk.done = *event;
  }
  return Status::success();
}

Status Staging::waitFor(Chunk &chunk, StreamState &stream) {
  if (!chunk.busy) {
    return Status::success();
  }
  chunk.busy = false;
  return device.check(device.driver.eventSynchronize(chunk.done),
                      "waiting for a copy", &stream);
}

Status Staging::upload(StreamState &stream, DeviceAddress to, const void *from,
                       size_t bytes) {
  Status status = refuseInCapture(stream);
  if (status.ok()) {
    status = device.makeCurrent();
  }
  const Driver &driver = device.driver;
  const char *what = "copying to the device";
  if (!status.ok()) {
    return status;
  }
  if (bytes <= directBytes) {
    return device.check(driver.memcpyHtoDAsync(to, from, bytes, stream.handle),
                        what, &stream);
  }
  std::lock_guard lock(mutex);
  status = prepare();
  for (size_t at = 0, turn = 0; at < bytes && status.ok();
       at += chunkBytes, ++turn) {
    Chunk &chunk = chunks[turn % 2];
    size_t part = std::min(chunkBytes, bytes - at);
    status = waitFor(chunk, stream);
    if (status.ok()) {
      std::memcpy(chunk.memory, static_cast<const std::byte *>(from) + at,
                  part);
      status = device.check(
          driver.memcpyHtoDAsync(to + at, chunk.memory, part, stream.handle),
          what, &stream);
    }
    if (status.ok()) {
      status = device.check(driver.eventRecord(chunk.done, stream.handle), what,
                            &stream);
      chunk.busy = true;
    }
  }
  return status;
}

Status Staging::download(StreamState &stream, void *to, DeviceAddress from,
                         size_t bytes) {
  Status status = refuseInCapture(stream);
  if (status.ok()) {
    status = device.makeCurrent();
  }
  const Driver &driver = device.driver;
  const char *what = "copying from the device";
  if (!status.ok()) {
    return status;
  }
  if (bytes <= directBytes) {
    status = device.check(
        driver.memcpyDtoHAsync(to, from, bytes, stream.handle), what, &stream);
    return status.ok() ? stream.synchronize() : status;
  }
  std::lock_guard lock(mutex);
  status = prepare();
  for (Chunk &chunk : chunks) { // the last user may have been another stream
    status = status.ok() ? waitFor(chunk, stream) : status;
  }
  // One chunk is fetched while the one before it is copied out.
  size_t count = (bytes + chunkBytes - 1) / chunkBytes;
  auto sizeOf = [&](size_t i) {
    return std::min(chunkBytes, bytes - i * chunkBytes);
  };
  for (size_t i = 0; i <= count && status.ok(); ++i) {
    if (i < count) {
      Chunk &chunk = chunks[i % 2];
      status = device.check(driver.memcpyDtoHAsync(chunk.memory,
                                                   from + i * chunkBytes,
                                                   sizeOf(i), stream.handle),
                            what, &stream);
      if (status.ok()) {
        status = device.check(driver.eventRecord(chunk.done, stream.handle),
                              what, &stream);
        chunk.busy = true;
      }
    }
    if (i > 0 && status.ok()) {
      Chunk &chunk = chunks[(i - 1) % 2];
      status = waitFor(chunk, stream);
      if (status.ok()) {
        std::memcpy(static_cast<std::byte *>(to) + (i - 1) * chunkBytes,
                    chunk.memory, sizeOf(i - 1));
      }
    }
  }
  return status;
}

Status copyOnDevices(StreamState &toStream, DeviceAddress to,
                     StreamState &fromStream, DeviceAddress from,
                     size_t bytes) {
  DeviceState &device = toStream.device;
  Status status = toStream.waitFor(fromStream);
  if (status.ok()) {
    status = device.makeCurrent();
  }
  if (!status.ok()) {
    return status;
  }
  Result result =
      &fromStream.device == &device || !device.driver.memcpyPeerAsync
          ? device.driver.memcpyAsync(to, from, bytes, toStream.handle)
          : device.driver.memcpyPeerAsync(to, device.context, from,
                                          fromStream.device.context, bytes,
                                          toStream.handle);
  status = device.check(result, "copying on the device", &toStream);
  // The source may be freed, and used again by its stream.
  return status.ok() ? fromStream.waitFor(toStream) : status;
}

Status fill(StreamState &stream, DeviceAddress to, uint32_t element,
            size_t elementBytes, size_t count) {
  DeviceState &device = stream.device;
  Status status = device.makeCurrent();
  if (!status.ok()) {
    return status;
  }
  const Driver &driver = device.driver;
  Result result =
      elementBytes == 1
          ? driver.memsetD8Async(to, static_cast<unsigned char>(element), count,
                                 stream.handle)
      : elementBytes == 2
          ? driver.memsetD16Async(to, static_cast<unsigned short>(element),
                                  count, stream.handle)
          : driver.memsetD32Async(to, element, count, stream.handle);
  return device.check(result, "filling device memory", &stream);
}

} // namespace nereid::gpu
