//===- GpuStream.cpp - A queue of work, and its latest -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuStream.h"

#include "nereid/Runtime/gpu/GpuModule.h"

#include <bit>
#include <cstdio>

namespace nereid::gpu {

StreamState::StreamState(DeviceState &device, StreamHandle handle, bool owned,
                         bool usesMemory)
    : device(device), handle(handle), usesMemory(usesMemory), owned(owned) {}

StreamState::~StreamState() {
  device.forget(*this);
  if (owned && device.makeCurrent().ok()) {
    device.driver.streamDestroy(handle); // after its work
  }
}

static Status refuseCapture() {
  return {ErrorCode::InvalidArgument,
          "a stream that records a graph cannot be waited for, and nothing can "
          "be copied to or from the host: do that before or after "
          "Graph::capture"};
}

Status StreamState::synchronize() {
  if (capture.load(std::memory_order_relaxed)) {
    return refuseCapture();
  }
  Status status = device.makeCurrent();
  return status.ok() ? device.check(device.driver.streamSynchronize(handle),
                                    "waiting for a stream", this)
                     : status;
}

Status StreamState::waitFor(StreamState &other) {
  if (&other == this) {
    return Status::success();
  }
  Status status = other.device.makeCurrent();
  Expected<EventHandle> event = other.device.takeEvent();
  if (!status.ok() || !event.ok()) {
    return status.ok() ? event.status() : status;
  }
  status =
      other.device.check(other.device.driver.eventRecord(*event, other.handle),
                         "recording an event", &other);
  if (status.ok()) {
    status = device.makeCurrent();
  }
  if (status.ok()) {
    status = device.check(device.driver.streamWaitEvent(handle, *event, 0),
                          "waiting for another stream", this);
  }
  // A wait takes the event as it is now: it may be recorded again at once.
  other.device.giveEvent(*event);
  return status;
}

bool StreamState::takesDependentLaunches() const {
  constexpr int firstInGraphs = 12030;
  return device.properties.major >= 9 &&
         (device.driver.version >= firstInGraphs ||
          !capture.load(std::memory_order_relaxed));
}

//===----------------------------------------------------------------------===//
// What was launched
//===----------------------------------------------------------------------===//

void StreamState::forget(const LoadedKernel &kernel) {
  for (Launch &launch : recent) {
    const LoadedKernel *expected = &kernel;
    launch.kernel.compare_exchange_strong(expected, nullptr);
  }
}

static std::string valueText(const ImageParameter &p, uint64_t slot) {
  char text[64];
  if (p.isPointer) {
    std::snprintf(text, sizeof(text), "0x%llx",
                  static_cast<unsigned long long>(slot));
    return text;
  }
  switch (p.dtype) {
  case DType::Int1:
    return slot & 1 ? "True" : "False";
  case DType::Float32:
    std::snprintf(text, sizeof(text), "%.9g",
                  double{std::bit_cast<float>(static_cast<uint32_t>(slot))});
    return text;
  case DType::Float64:
    std::snprintf(text, sizeof(text), "%.17g", std::bit_cast<double>(slot));
    return text;
  default:
    break;
  }
  unsigned shift = 64 - bitWidth(p.dtype);
  if (isFloat(p.dtype)) { // 16 bits and less: as they are
    std::snprintf(text, sizeof(text), "0x%llx",
                  static_cast<unsigned long long>(slot << shift >> shift));
    return text;
  }
  return isSigned(p.dtype)
             ? std::to_string(static_cast<int64_t>(slot << shift) >>
                              static_cast<int64_t>(shift))
             : std::to_string(slot << shift >> shift);
}

std::string StreamState::describe(const Launch &launch) const {
  const LoadedKernel *kernel = launch.kernel.load();
  if (!kernel) {
    return "";
  }
  std::string text = kernel->name + "[";
  for (size_t i = 0; i < 3; ++i) {
    text += (i ? ", " : "") + std::to_string(launch.grid[i].load());
  }
  text += "](";
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    if (i == maxSlots) {
      text += ", ...";
      break;
    }
    text += (i ? ", " : "") + kernel->parameters[i].name + "=" +
            valueText(kernel->parameters[i], launch.slots[i].load());
  }
  return text + ")";
}

std::string StreamState::describeRecent() const {
  std::string text;
  uint32_t n = launches.load();
  for (uint32_t back = 1; back <= recent.size() && back <= n; ++back) {
    std::string one = describe(recent[(n - back) % recent.size()]);
    if (!one.empty()) {
      text += (text.empty() ? "" : ", before it ") + one;
    }
  }
  return text;
}

} // namespace nereid::gpu
