//===- GpuDevice.h - A GPU: context, streams, memory -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A DeviceState is made on first use and lives as long as the process: static
// tensors may be freed after everything else. It holds the device's primary
// context, which other users of the CUDA runtime API in the process share, or
// one that the program has given it. HIP's primary contexts are the devices.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_GPUDEVICE_H
#define NEREID_RUNTIME_GPU_GPUDEVICE_H

#include "nereid/Runtime/gpu/GpuDriver.h"
#include "nereid/Runtime/gpu/GpuMemory.h"
#include "nereid/Runtime/gpu/GpuStream.h"

#include <mutex>
#include <string_view>
#include <utility>

namespace nereid::gpu {

inline constexpr int maxDevices = 64; ///< of each kind
inline constexpr size_t mostSlots = 2 * maxDevices;

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  std::string architecture; ///< of an AMD GPU: "gfx942"
  int multiprocessors = 0;
  int maxThreadsPerBlock = 0, maxThreadsPerMultiprocessor = 0;
  int registersPerMultiprocessor = 0;
  /// Shared memory of a block: without asking, and at most.
  int sharedBytesPerBlock = 0, sharedBytesOptin = 0;
  int sharedBytesPerMultiprocessor = 0;
  int l2Bytes = 0, clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0;
  uint64_t memoryBytes = 0;

  /// CompileRequest::target: "sm_89", "sm_90a", "gfx942".
  std::string target() const;
};

/// Are kernels compiled for this architecture of AMD's (Target/AMDGPU)? A GPU
/// of another one, such as a desktop processor's own, is no device to be chosen
/// unasked.
bool isCompiledFor(std::string_view architecture);

/// "gfx942": of a device of HIP's. Unsupported where the library gives no such
/// name.
Expected<std::string> readArchitecture(const Driver &driver, DeviceId id);

class DeviceState {
public:
  /// Devices of this machine, cuda or hip; the failure of loadDriver when it
  /// cannot tell.
  static Expected<int> count(Device::Kind kind);
  /// NotFound, saying how many there are, for an index out of range. The device
  /// is a GPU.
  static Expected<DeviceState *> get(Device device);
  /// A number below mostSlots, for tables: other than those of all other GPUs.
  static size_t slotOf(Device place) {
    return static_cast<size_t>(place.index()) +
           (place.kind() == Device::Kind::Hip ? maxDevices : 0);
  }
  /// Instead of the primary context; before the first get().
  static Status useContext(Device device, ContextHandle context);

  const Driver &driver;
  const Device place;
  ContextHandle context = nullptr;
  std::shared_ptr<StreamState> defaultStream;
  DeviceProperties properties;
  Memory memory;
  Staging staging;

  std::string name() const { return nameOf(place); }
  bool isHip() const { return place.kind() == Device::Kind::Hip; }

  /// Makes the context the calling thread's. It stays so after the call.
  Status makeCurrent() const;
  /// The same where that has been done before on this thread. Wrong when the
  /// caller has set another context since, which a launch then finds out.
  void assumeCurrent() const {
    if (lastMadeCurrent != context) [[unlikely]] {
      (void)makeCurrent().ok();
    }
  }

  /// The stream of the calling thread: defaultStream unless set.
  StreamState &currentStream() const {
    StreamState *stream = currentStreams[slotOf(place)];
    return stream ? *stream : *defaultStream;
  }
  /// Null: defaultStream. Returns what it was.
  StreamState *setCurrentStream(StreamState *stream) const {
    return std::exchange(currentStreams[slotOf(place)], stream);
  }

  Expected<std::shared_ptr<StreamState>> createStream(unsigned flags);
  /// A stream of the caller's, which must outlive the result. Without
  /// `usesMemory` it waits for no other, and none for it.
  Expected<std::shared_ptr<StreamState>> borrowStream(StreamHandle handle,
                                                      bool usesMemory = true);

  /// Waits for the work of every stream.
  Status synchronize();

  /// Events without times, for ordering streams.
  Expected<EventHandle> takeEvent();
  void giveEvent(EventHandle event);

  /// Success, or what went wrong. A fatal result tells which kernels were
  /// launched last, on `stream` or on all.
  Status check(Result result, const char *what,
               const StreamState *stream = nullptr) {
    if (result == Success) [[likely]] {
      return Status::success();
    }
    return failure(result, what, stream);
  }
  Failure failure(Result result, const std::string &what,
                  const StreamState *stream = nullptr);

  /// Calls f with every live stream, under the lock that guards them.
  template <typename F>
  void forEachStream(F f) {
    std::lock_guard lock(streamsMutex);
    for (StreamState *stream : streams) {
      f(*stream);
    }
  }

private:
  friend class StreamState;
  DeviceState(const Driver &driver, Device place);
  static std::string nameOf(Device place);

  Status start();
  Status readProperties(DeviceId id);
  Expected<std::shared_ptr<StreamState>> adopt(StreamHandle handle, bool owned,
                                               bool usesMemory = true);
  void forget(StreamState &stream);

  // constinit: without it every access from another file is a call.
  static inline constinit thread_local ContextHandle lastMadeCurrent = nullptr;
  static inline constinit thread_local StreamState *currentStreams[mostSlots] =
      {};

  // Recursive: a failure while streams are ordered describes all of them.
  std::recursive_mutex streamsMutex;
  std::vector<StreamState *> streams;
  std::mutex eventsMutex;
  std::vector<EventHandle> freeEvents;
};

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_GPUDEVICE_H
