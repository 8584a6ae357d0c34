//===- FakeWorld.h - The state of the fake driver ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_TESTING_FAKEWORLD_H
#define NEREID_RUNTIME_GPU_TESTING_FAKEWORLD_H

#include "nereid/Runtime/gpu/testing/FakeDriver.h"

#include <deque>
#include <mutex>
#include <set>

namespace nereid::gpu {

struct ContextObject {
  int device;
};

struct StreamObject {
  std::deque<std::function<void()>> work;
  bool capturing = false;
  bool isInvalid = false; ///< the capture, as the driver has it
  std::vector<std::function<void()>> captured;
  /// The capturing stream that this one has joined by an event.
  StreamObject *joined = nullptr;

  StreamObject *capture() { return capturing ? this : joined; }
};

struct EventObject {
  StreamHandle stream = nullptr;
  StreamObject *capture = nullptr; ///< that it was recorded in
  uint64_t recorded = 0, reached = 0;
  double milliseconds = 0;
};

struct GraphObject {
  std::vector<std::function<void()>> work;
};
struct GraphExecObject {
  std::vector<std::function<void()>> work;
};

struct LinkObject {
  char *info = nullptr, *errors = nullptr;
  std::string text;
};

struct ModuleObject {
  std::string entry;
};
struct FunctionObject {
  std::string entry;
};

/// Of each kind; those of HIP come after CUDA's.
inline constexpr int devicesOfKind = 2, deviceCount = 2 * devicesOfKind;
inline constexpr size_t arenaBytes = size_t{1}
                                     << 30; // of addresses, not of memory
inline constexpr Result invalidValue = 1, captureUnsupported = 900,
                        captureInvalidated = 901, captureIsolation = 905;

struct World {
  std::recursive_mutex mutex;
  std::byte *arena = nullptr; // of all devices, one after the other
  std::map<DeviceAddress, size_t> blocks[deviceCount];
  ContextObject contexts[deviceCount] = {{0}, {1}, {2}, {3}};
  StreamObject legacy;
  std::set<StreamHandle> streams;
  std::map<std::byte *, size_t> pinned;
  std::map<std::string, FunctionObject> functions;
  uint64_t events = 0;

  World();
};

World &world();

/// The calling thread's; null at first, as with the real driver.
extern thread_local ContextHandle current;

/// Counts the call; what it must return at once, or Success.
Result enter(const char *symbol);

inline StreamObject &streamOf(StreamHandle handle) {
  return handle ? *handle : world().legacy;
}

/// Runs the stream's oldest piece of work, with the devices' memory open.
void runOne(StreamObject &stream);
/// Runs all of it, until a kernel fails.
Result drain(StreamObject &stream);
Result drainAll();

/// At the end of the stream, or of what it records.
void push(StreamHandle handle, std::function<void()> piece);

} // namespace nereid::gpu

/// How an entry point begins.
#define NEREID_FAKE(symbol)                                                    \
  std::lock_guard lock(world().mutex);                                         \
  if (Result early = enter(symbol)) {                                          \
    return early;                                                              \
  }                                                                            \
  static_assert(true)

#endif // NEREID_RUNTIME_GPU_TESTING_FAKEWORLD_H
