//===- GpuDevice.cpp - A GPU: context, streams, memory -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"

#include <algorithm>
#include <atomic>

namespace nereid::gpu {

std::string DeviceProperties::target() const {
  // From 9.0 on the matrix instructions are in the architecture's own set.
  return "sm_" + std::to_string(major) + std::to_string(minor) +
         (major >= 9 ? "a" : "");
}

Expected<int> DeviceState::count() {
  static const Expected<int> result = []() -> Expected<int> {
    Expected<const Driver *> driver = loadDriver();
    if (!driver.ok()) {
      return driver.failure();
    }
    int count = 0;
    Status status = (*driver)->check((*driver)->deviceGetCount(&count),
                                     "counting the cuda devices");
    if (!status.ok()) {
      return status;
    }
    return std::min(count, maxDevices);
  }();
  return result;
}

static std::atomic<DeviceState *> known[maxDevices];
static std::mutex startMutex;
static ContextHandle givenContexts[maxDevices]; ///< guarded by startMutex

Status DeviceState::useContext(int index, ContextHandle context) {
  Expected<int> devices = count();
  if (!devices.ok()) {
    return devices.status();
  }
  if (index < 0 || index >= *devices) {
    return get(index).status();
  }
  std::lock_guard lock(startMutex);
  if (known[index].load()) {
    return {ErrorCode::InvalidArgument,
            "cuda:" + std::to_string(index) +
                " is in use already: give it a context before the first "
                "tensor, stream and launch"};
  }
  givenContexts[index] = context;
  return Status::success();
}

Expected<DeviceState *> DeviceState::get(int index) {
  if (index >= 0 && index < maxDevices) {
    if (DeviceState *state = known[index].load(std::memory_order_acquire)) {
      return state;
    }
  }
  Expected<int> devices = count();
  if (!devices.ok()) {
    return devices.failure();
  }
  if (index < 0 || index >= *devices) {
    return {ErrorCode::NotFound,
            "no device 'cuda:" + std::to_string(index) +
                "': this machine has " + std::to_string(*devices) +
                (*devices == 1 ? " cuda device, number 0"
                               : " cuda devices, numbers from 0")};
  }
  std::lock_guard lock(startMutex);
  if (DeviceState *state = known[index].load()) {
    return state;
  }
  std::unique_ptr<DeviceState> made(new DeviceState(**loadDriver(), index));
  Status status = made->start();
  if (!status.ok()) {
    return status;
  }
  known[index].store(made.get(), std::memory_order_release);
  return made.release();
}

DeviceState::DeviceState(const Driver &driver, int index)
    : driver(driver), index(index), memory(*this), staging(*this) {}

Status DeviceState::start() {
  DeviceId id = 0;
  Status status =
      driver.check(driver.deviceGet(&id, index), "finding the device");
  if (status.ok()) {
    status = readProperties(id);
  }
  context = givenContexts[index];
  if (status.ok() && !context) {
    status = driver.check(driver.primaryCtxRetain(&context, id),
                          "making the device's context");
  }
  if (status.ok()) {
    status = makeCurrent();
  }
  if (!status.ok()) {
    return {status.failure().code, name() + ": " + status.failure().message};
  }
  Expected<std::shared_ptr<StreamState>> stream = createStream(streamDefault);
  if (!stream.ok()) {
    return stream.failure();
  }
  defaultStream = *stream;
  return Status::success();
}

Status DeviceState::readProperties(DeviceId id) {
  char text[256] = {};
  Status status = driver.check(driver.deviceGetName(text, sizeof(text), id),
                               "reading the device's name");
  if (!status.ok()) {
    return status;
  }
  properties.name = text;
  size_t bytes = 0;
  status = driver.check(driver.deviceTotalMem(&bytes, id),
                        "reading the size of the device's memory");
  properties.memoryBytes = bytes;
  const std::pair<DeviceAttribute, int *> wanted[] = {
      {ComputeCapabilityMajor, &properties.major},
      {ComputeCapabilityMinor, &properties.minor},
      {MultiprocessorCount, &properties.multiprocessors},
      {MaxThreadsPerBlock, &properties.maxThreadsPerBlock},
      {MaxThreadsPerMultiprocessor, &properties.maxThreadsPerMultiprocessor},
      {RegistersPerMultiprocessor, &properties.registersPerMultiprocessor},
      {SharedBytesPerBlock, &properties.sharedBytesPerBlock},
      {SharedBytesPerBlockOptin, &properties.sharedBytesOptin},
      {SharedBytesPerMultiprocessor, &properties.sharedBytesPerMultiprocessor},
      {L2CacheBytes, &properties.l2Bytes},
      {ClockRateKHz, &properties.clockKHz},
      {MemoryClockRateKHz, &properties.memoryClockKHz},
      {MemoryBusWidthBits, &properties.memoryBusBits},
  };
  for (auto [attribute, value] : wanted) {
    if (status.ok()) {
      status = driver.check(driver.deviceGetAttribute(value, attribute, id),
                            "reading the device's properties");
    }
  }
  return status;
}

Status DeviceState::makeCurrent() const {
  ContextHandle current = nullptr;
  Result result = driver.ctxGetCurrent(&current);
  if (result == Success && current != context) {
    result = driver.ctxSetCurrent(context);
  }
  lastMadeCurrent = result == Success ? context : nullptr;
  return driver.check(result, "making the device's context current");
}

Status DeviceState::synchronize() {
  Status status = makeCurrent();
  return status.ok()
             ? check(driver.ctxSynchronize(), "waiting for the device's work")
             : status;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

/// Freed blocks carry marks of the streams there were; a new stream waits for
/// all of these once, so that blocks freed before it are safe for it too.
Expected<std::shared_ptr<StreamState>> DeviceState::adopt(StreamHandle handle,
                                                          bool owned) {
  auto stream = std::make_shared<StreamState>(*this, handle, owned);
  std::lock_guard lock(streamsMutex);
  for (StreamState *other : streams) {
    Status status = stream->waitFor(*other);
    if (!status.ok()) {
      return status;
    }
  }
  streams.push_back(stream.get());
  return stream;
}

Expected<std::shared_ptr<StreamState>>
DeviceState::createStream(unsigned flags) {
  Status status = makeCurrent();
  StreamHandle handle = nullptr;
  if (status.ok()) {
    status = check(driver.streamCreate(&handle, flags), "making a stream");
  }
  if (!status.ok()) {
    return status;
  }
  return adopt(handle, true);
}

Expected<std::shared_ptr<StreamState>>
DeviceState::borrowStream(StreamHandle handle) {
  Status status = makeCurrent();
  if (!status.ok()) {
    return status;
  }
  return adopt(handle, false);
}

void DeviceState::forget(StreamState &stream) {
  std::lock_guard lock(streamsMutex);
  auto found = std::find(streams.begin(), streams.end(), &stream);
  if (found == streams.end()) {
    return;
  }
  streams.erase(found);
  // Blocks freed from now on carry no mark of it.
  for (StreamState *other : streams) {
    (void)other->waitFor(stream).ok();
  }
}

Expected<EventHandle> DeviceState::takeEvent() {
  {
    std::lock_guard lock(eventsMutex);
    if (!freeEvents.empty()) {
      EventHandle event = freeEvents.back();
      freeEvents.pop_back();
      return event;
    }
  }
  EventHandle event = nullptr;
  Status status = makeCurrent();
  if (status.ok()) {
    status =
        check(driver.eventCreate(&event, eventWithoutTimes), "making an event");
  }
  if (!status.ok()) {
    return status;
  }
  return event;
}

void DeviceState::giveEvent(EventHandle event) {
  std::lock_guard lock(eventsMutex);
  freeEvents.push_back(event);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

Failure DeviceState::failure(Result result, const std::string &what,
                             const StreamState *stream) {
  Failure failure =
      driver.check(result, (name() + ": " + what).c_str()).failure();
  if (!isFatal(result)) {
    return failure;
  }
  std::string recent = stream ? stream->describeRecent() : "";
  if (!stream) {
    forEachStream([&](StreamState &each) {
      std::string text = each.describeRecent();
      recent += (recent.empty() || text.empty() ? "" : "; ") + text;
    });
  }
  failure.message +=
      "\n  a kernel failed on the device; launched last: " +
      (recent.empty() ? "none by Nereid" : recent) +
      "\n  the process cannot use the device any more. NEREID_CHECK=oob finds "
      "accesses outside the arguments";
  return failure;
}

} // namespace nereid::gpu
