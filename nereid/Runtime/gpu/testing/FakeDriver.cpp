//===- FakeDriver.cpp - A CUDA driver without a GPU -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/testing/FakeWorld.h"

#include <algorithm>
#include <cstdio>
#include <sys/mman.h>

using namespace nereid::gpu;

namespace nereid::gpu {

thread_local ContextHandle current = nullptr;

World::World() {
  arena = static_cast<std::byte *>(
      ::mmap(nullptr, deviceCount * arenaBytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  streams.insert(&legacy);
}

World &world() {
  static World *instance = new World;
  return *instance;
}

Result enter(const char *symbol) {
  FakeDriver &driver = fakeDriver();
  ++driver.calls[symbol];
  if (driver.fatal) {
    return driver.fatal;
  }
  auto planned = driver.failNext.find(symbol);
  if (planned == driver.failNext.end()) {
    return Success;
  }
  Result result = planned->second;
  driver.failNext.erase(planned);
  return result;
}

namespace {

/// The devices' memory can be touched while one of these exists.
class OpenMemory {
public:
  OpenMemory() {
    if (!depth++) {
      protect(PROT_READ | PROT_WRITE);
    }
  }
  ~OpenMemory() {
    if (!--depth) {
      protect(PROT_NONE);
    }
  }

private:
  static void protect(int access) {
    ::mprotect(world().arena, deviceCount * arenaBytes, access);
  }
  static inline int depth = 0;
};

} // namespace

void runOne(StreamObject &stream) {
  OpenMemory open;
  auto piece = std::move(stream.work.front());
  stream.work.pop_front();
  piece();
}

Result drain(StreamObject &stream) {
  if (!stream.work.empty()) {
    OpenMemory open;
    while (!stream.work.empty() && !fakeDriver().fatal) {
      runOne(stream);
    }
  }
  return fakeDriver().fatal;
}

Result drainAll() {
  for (StreamHandle stream : world().streams) {
    drain(*stream);
  }
  return fakeDriver().fatal;
}

void push(StreamHandle handle, std::function<void()> piece) {
  StreamObject &stream = streamOf(handle);
  if (StreamObject *capture = stream.capture()) {
    capture->captured.push_back(std::move(piece));
  } else {
    stream.work.push_back(std::move(piece));
  }
}

FakeDriver &fakeDriver() {
  static FakeDriver *instance = new FakeDriver;
  return *instance;
}

void FakeDriver::reset() {
  std::lock_guard lock(world().mutex);
  for (StreamHandle stream : world().streams) {
    stream->work.clear();
  }
  *this = FakeDriver();
}

} // namespace nereid::gpu

// The symbols are those of GpuDriver.def; those that no test depends on return
// what a healthy driver would.
extern "C" {

Result cuInit(unsigned) { return Success; }

Result cuDriverGetVersion(int *version) {
  *version = fakeDriver().version;
  return Success;
}

Result cuGetErrorName(Result error, const char **text) {
  *text = error == IllegalAddress         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == OutOfMemory          ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == InvalidPtx           ? "CUDA_ERROR_INVALID_PTX"
          : error == LaunchOutOfResources ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                                          : "CUDA_ERROR_OTHER";
  return Success;
}

Result cuGetErrorString(Result, const char **text) {
  *text = "as the fake driver says";
  return Success;
}

Result cuDeviceGetCount(int *count) {
  *count = devicesOfKind;
  return Success;
}

Result cuDeviceGet(DeviceId *device, int ordinal) {
  *device = ordinal;
  return ordinal < devicesOfKind ? Success : 101;
}

Result cuDeviceGetName(char *name, int bytes, DeviceId) {
  std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
  return Success;
}

Result cuDeviceGetAttribute(int *value, int attribute, DeviceId device) {
  static const std::map<int, int> values = {
      {MaxThreadsPerBlock, 1024},  {SharedBytesPerBlock, 48 << 10},
      {MultiprocessorCount, 4},    {MaxThreadsPerMultiprocessor, 2048},
      {ComputeCapabilityMajor, 9}, {SharedBytesPerBlockOptin, 227 << 10}};
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  if (attribute == ComputeCapabilityMajor && device == 1) {
    *value = 8; // so that images of two architectures meet
  }
  return Success;
}

Result cuDeviceTotalMem_v2(size_t *bytes, DeviceId) {
  *bytes = fakeDriver().memoryBytes;
  return Success;
}

Result cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceId device) {
  *context = &world().contexts[device];
  return Success;
}

Result cuDevicePrimaryCtxRelease_v2(DeviceId) { return Success; }

Result cuCtxSetCurrent(ContextHandle context) {
  ++fakeDriver().calls["cuCtxSetCurrent"];
  current = context;
  return Success;
}

Result cuCtxGetCurrent(ContextHandle *context) {
  ++fakeDriver().calls["cuCtxGetCurrent"];
  *context = current;
  return Success;
}

Result cuCtxSynchronize() {
  NEREID_FAKE("cuCtxSynchronize");
  for (StreamObject *stream : world().streams) {
    if (stream->capturing) {
      stream->isInvalid = true;
      return captureUnsupported;
    }
  }
  return drainAll();
}

} // extern "C"
