//===- Stream.h - Order and time of a device's work -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU a launch returns when the kernel has been queued. Work of
// one stream runs in the order in which it was queued; work of two streams does
// not, unless one waits for an event of the other. Launches and copies go to
// the calling thread's current stream of the device, which is the device's
// default stream unless a StreamGuard says otherwise.
//
//   Stream side(Device::cuda());
//   {
//     StreamGuard guard(side);
//     kernel[grid](x, y);
//   }
//   Event done(Device::cuda());
//   done.record(side);
//   Stream::current(Device::cuda()).wait(done);
//
// The default stream is one that Nereid makes; it and the streams made here are
// ordered with CUDA's legacy default stream, or HIP's null stream, which other
// libraries use unless asked otherwise. On host devices work is done when a
// call returns: there are no streams, and synchronize(device) does nothing.
//
// The next call that waits for a kernel reports its failure (an illegal
// address). The message names the kernels launched last on the stream, with
// their arguments.
//
// Threads. Each thread has its own current stream, and a StreamGuard ends on
// the thread that made it. Streams and events may be used by several threads at
// once. One thread at a time captures into, or replays, a graph.
//
// All functions throw Error; InvalidArgument for a device without streams.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_STREAM_H
#define NEREID_RUNTIME_STREAM_H

#include "nereid/Runtime/Device.h"

#include <functional>
#include <memory>

namespace nereid {

namespace gpu {
class StreamState;
struct Capture;
} // namespace gpu

class Event;

/// What memory a stream's work uses, beside tensors that are older than a
/// Graph's recording.
enum class StreamMemory {
  Any,
  /// Where the stream has joined a recording by an event: of the recording's
  /// own memory only what is freed after the recorded stream has waited for it.
  /// The recording hands its memory out again then, as it does with one stream.
  FreedAfterJoin,
  /// None of Nereid's: its launches have arrays of other libraries alone.
  None
};

/// A handle; copies are the same stream.
class Stream {
public:
  /// A new stream.
  explicit Stream(Device device = Device::cuda(),
                  StreamMemory memory = StreamMemory::Any);
  /// A stream (CUstream, cudaStream_t, hipStream_t) of the caller's, which must
  /// outlive all copies. Keep the result: making one orders the stream with all
  /// others, but for StreamMemory::None, which does nothing to the stream: it
  /// may be one that is being recorded.
  static Stream borrow(void *handle, Device device = Device::cuda(),
                       StreamMemory memory = StreamMemory::Any);
  /// The calling thread's.
  static Stream current(Device device = Device::cuda());

  Device device() const;
  void *handle() const; ///< CUstream, hipStream_t
  /// Is its work being recorded (Graph::capture) instead of run?
  bool isRecording() const;
  /// Waits on the host for all work so far.
  void synchronize() const;
  /// Later work of this stream waits for the event; the host does not.
  void wait(const Event &event) const;

private:
  friend class StreamGuard;
  friend class Event;
  friend class Graph;
  explicit Stream(std::shared_ptr<gpu::StreamState> state)
      : state(std::move(state)) {}
  std::shared_ptr<gpu::StreamState> state;
};

/// Makes a stream its device's current one on this thread, for a scope.
class StreamGuard {
public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard &) = delete;
  StreamGuard &operator=(const StreamGuard &) = delete;

private:
  Stream stream;
  gpu::StreamState *before;
};

/// A point in a stream's work. A handle; copies are the same event.
class Event {
public:
  explicit Event(Device device = Device::cuda());

  /// After all work so far of the current stream, or of `stream`.
  void record() const;
  void record(const Stream &stream) const;
  /// Waits on the host until the point is reached.
  void synchronize() const;
  bool isDone() const;
  /// The device's time since `start` was reached. Waits for both.
  double millisecondsSince(const Event &start) const;

private:
  friend class Stream;
  struct State;
  std::shared_ptr<State> state;
};

/// Work that was recorded once and is run again with one call, at a fraction
/// of the cost of its launches. Addresses and arguments are those of the
/// recording: write new inputs into the same tensors.
class Graph {
public:
  Graph() = default;
  /// Runs `work`, whose launches and copies between tensors of the device are
  /// recorded instead of run. It must not wait for the device or touch the
  /// host's memory (item, to(cpu), fromVector). Launch every kernel once
  /// before: compiling and tuning are no part of a graph. The graph keeps
  /// memory that is allocated or freed while recording; tensors made before
  /// must outlive it.
  static Graph capture(Device device, const std::function<void()> &work);

  /// On the current stream.
  void replay() const;
  void replay(const Stream &stream) const;
  size_t nodes() const; ///< launches, copies and fills

private:
  std::shared_ptr<gpu::Capture> state;
};

/// Waits on the host for all work of the device, of every stream.
void synchronize(Device device);

/// Lets the device work in a context (CUcontext, hipCtx_t) of the caller's,
/// which must outlive the process's use of it, instead of the device's primary
/// context. Only before the device is first used.
void useContext(Device device, void *context);

/// Memory of a device, in bytes. Tensors that are gone leave theirs in a cache
/// for later ones.
struct MemoryUse {
  uint64_t used = 0;   ///< by tensors
  uint64_t cached = 0; ///< kept for later ones
  uint64_t free = 0, total = 0;
};
/// For host devices `free` and `total` are zero; all of them share one cache.
MemoryUse memoryUse(Device device);
/// Gives cached memory back to the driver, or to the system. Waits for the
/// device.
void emptyCache(Device device);

} // namespace nereid

#endif // NEREID_RUNTIME_STREAM_H
