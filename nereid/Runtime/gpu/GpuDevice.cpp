//===- GpuDevice.cpp - A GPU: context, streams, memory -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace nereid::gpu {

std::string DeviceProperties::target() const {
  if (!architecture.empty()) {
    return architecture;
  }
  // From 9.0 on the matrix instructions are in the architecture's own set.
  return "sm_" + std::to_string(10 * major + minor) + (major >= 9 ? "a" : "");
}

bool isCompiledFor(std::string_view architecture) {
  constexpr std::string_view known[] = {"gfx90a", "gfx942", "gfx950", "gfx1100",
                                        "gfx1201"};
  return std::ranges::find(known, architecture) != std::end(known);
}

Expected<std::string> readArchitecture(const Driver &driver, DeviceId id) {
  // hipDeviceProp_tR0600 has 1472 bytes, the name as 256 characters in these:
  // "gfx942:sramecc+:xnack-".
  constexpr size_t offset = 1160, length = 256;
  alignas(std::max_align_t) char all[4096] = {};
  Status status = driver.check(driver.deviceGetProperties(all, id),
                               "reading the device's architecture");
  if (!status.ok()) {
    return status;
  }
  std::string text(all + offset, strnlen(all + offset, length));
  std::string architecture = text.substr(0, text.find(':'));
  if (!architecture.starts_with("gfx")) {
    return {ErrorCode::Unsupported,
            "expected the name of an architecture from the HIP library, "
            "gfx..., got '" +
                architecture + "'"};
  }
  return architecture;
}

static const char *nameOf(Device::Kind kind) {
  return kind == Device::Kind::Hip ? "hip" : "cuda";
}

std::string DeviceState::nameOf(Device place) {
  return std::string(gpu::nameOf(place.kind())) + ":" +
         std::to_string(place.index());
}

static Expected<int> countDevices(Device::Kind kind) {
  Expected<const Driver *> driver = loadDriver(kind);
  if (!driver.ok()) {
    return driver.failure();
  }
  int count = 0;
  std::string what = std::string("counting the ") + nameOf(kind) + " devices";
  Status status =
      (*driver)->check((*driver)->deviceGetCount(&count), what.c_str());
  if (!status.ok()) {
    return status;
  }
  return std::min(count, maxDevices);
}

Expected<int> DeviceState::count(Device::Kind kind) {
  if (kind == Device::Kind::Hip) {
    static const Expected<int> hip = countDevices(kind);
    return hip;
  }
  static const Expected<int> cuda = countDevices(kind);
  return cuda;
}

// By DeviceState::slotOf.
static std::atomic<DeviceState *> known[mostSlots];
static std::mutex startMutex;
static ContextHandle givenContexts[mostSlots]; ///< guarded by startMutex

Status DeviceState::useContext(Device device, ContextHandle context) {
  Expected<int> devices = count(device.kind());
  if (!devices.ok()) {
    return devices.status();
  }
  if (device.index() < 0 || device.index() >= *devices) {
    return get(device).status();
  }
  std::lock_guard lock(startMutex);
  if (known[slotOf(device)].load()) {
    return {ErrorCode::InvalidArgument,
            nameOf(device) + " is in use already: give it a context before "
                             "the first tensor, stream and launch"};
  }
  givenContexts[slotOf(device)] = context;
  return Status::success();
}

Expected<DeviceState *> DeviceState::get(Device device) {
  const int index = device.index();
  if (index >= 0 && index < maxDevices) {
    if (DeviceState *state =
            known[slotOf(device)].load(std::memory_order_acquire)) {
      return state;
    }
  }
  Expected<int> devices = count(device.kind());
  if (!devices.ok()) {
    return devices.failure();
  }
  if (index < 0 || index >= *devices) {
    std::string kind = gpu::nameOf(device.kind());
    return {
        ErrorCode::NotFound,
        "no device '" + nameOf(device) + "': this machine has " +
            std::to_string(*devices) + " " + kind +
            (*devices == 1 ? " device, number 0" : " devices, numbers from 0")};
  }
  std::lock_guard lock(startMutex);
  if (DeviceState *state = known[slotOf(device)].load()) {
    return state;
  }
  std::unique_ptr<DeviceState> made(
      new DeviceState(**loadDriver(device.kind()), device));
  Status status = made->start();
  if (!status.ok()) {
    return status;
  }
  known[slotOf(device)].store(made.get(), std::memory_order_release);
  return made.release();
}

DeviceState::DeviceState(const Driver &driver, Device place)
    : driver(driver), place(place), memory(*this), staging(*this) {}

Status DeviceState::start() {
  DeviceId id = 0;
  Status status =
      driver.check(driver.deviceGet(&id, place.index()), "finding the device");
  if (status.ok()) {
    status = readProperties(id);
  }
  context = givenContexts[slotOf(place)];
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
  struct Attribute {
    DeviceAttribute cuda;
    int hip; ///< hipDeviceAttribute_t
    int *value;
  };
  // HIP counts the LDS of all compute units as "shared memory a
  // multiprocessor" (76), and has an attribute of its own for that of one.
  const Attribute wanted[] = {
      {ComputeCapabilityMajor, 23, &properties.major},
      {ComputeCapabilityMinor, 61, &properties.minor},
      {MultiprocessorCount, 63, &properties.multiprocessors},
      {MaxThreadsPerBlock, 56, &properties.maxThreadsPerBlock},
      {MaxThreadsPerMultiprocessor, 57,
       &properties.maxThreadsPerMultiprocessor},
      {RegistersPerMultiprocessor, 72, &properties.registersPerMultiprocessor},
      {SharedBytesPerBlock, 74, &properties.sharedBytesPerBlock},
      {SharedBytesPerBlockOptin, 74, &properties.sharedBytesOptin},
      {SharedBytesPerMultiprocessor, 10002,
       &properties.sharedBytesPerMultiprocessor},
      {L2CacheBytes, 19, &properties.l2Bytes},
      {ClockRateKHz, 5, &properties.clockKHz},
      {MemoryClockRateKHz, 60, &properties.memoryClockKHz},
      {MemoryBusWidthBits, 59, &properties.memoryBusBits},
  };
  for (const Attribute &attribute : wanted) {
    if (status.ok()) {
      status = driver.check(
          driver.deviceGetAttribute(
              attribute.value, isHip() ? attribute.hip : attribute.cuda, id),
          "reading the device's properties");
    }
  }
  if (!status.ok() || !isHip()) {
    return status;
  }
  Expected<std::string> architecture = readArchitecture(driver, id);
  if (architecture.ok()) {
    properties.architecture = *architecture;
  }
  return architecture.status();
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
Expected<std::shared_ptr<StreamState>>
DeviceState::adopt(StreamHandle handle, bool owned, bool usesMemory) {
  auto stream = std::make_shared<StreamState>(*this, handle, owned, usesMemory);
  std::lock_guard lock(streamsMutex);
  for (StreamState *other : streams) {
    if (usesMemory && other->usesMemory) {
      Status status = stream->waitFor(*other);
      if (!status.ok()) {
        return status;
      }
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
DeviceState::borrowStream(StreamHandle handle, bool usesMemory) {
  Status status = makeCurrent();
  if (!status.ok()) {
    return status;
  }
  return adopt(handle, false, usesMemory);
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
    if (stream.usesMemory && other->usesMemory) {
      (void)other->waitFor(stream).ok();
    }
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
