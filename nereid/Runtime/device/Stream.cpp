//===- Stream.cpp - Order and time of a device's work ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Stream.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/gpu/GpuCapture.h"

namespace nereid {

using gpu::DeviceState;
using gpu::StreamState;

static DeviceState &stateOf(Device device) {
  if (device.isHost()) {
    raise({ErrorCode::InvalidArgument,
           "the device " + device.str() +
               " has no contexts, streams and graphs: its work is done when a "
               "call returns",
           {}});
  }
  return *valueOrThrow(DeviceState::get(device));
}

//===----------------------------------------------------------------------===//
// Stream
//===----------------------------------------------------------------------===//

Stream::Stream(Device device, StreamMemory memory)
    : state(valueOrThrow(stateOf(device).createStream(gpu::streamDefault))) {
  state->freesAfterJoin = memory == StreamMemory::FreedAfterJoin;
}

Stream Stream::borrow(void *handle, Device device, StreamMemory memory) {
  Stream stream(valueOrThrow(stateOf(device).borrowStream(
      static_cast<gpu::StreamHandle>(handle), memory != StreamMemory::None)));
  stream.state->freesAfterJoin = memory == StreamMemory::FreedAfterJoin;
  return stream;
}

Stream Stream::current(Device device) {
  return Stream(stateOf(device).currentStream().shared_from_this());
}

Device Stream::device() const { return state->device.place; }

void *Stream::handle() const { return state->handle; }

bool Stream::isRecording() const { return state->capture.load(); }

void Stream::synchronize() const { throwIfFailed(state->synchronize()); }

StreamGuard::StreamGuard(Stream wanted)
    : stream(std::move(wanted)),
      before(stream.state->device.setCurrentStream(stream.state.get())) {}

StreamGuard::~StreamGuard() { stream.state->device.setCurrentStream(before); }

//===----------------------------------------------------------------------===//
// Event
//===----------------------------------------------------------------------===//

struct Event::State {
  explicit State(DeviceState &device) : device(device) {}
  ~State() {
    if (handle && device.makeCurrent().ok()) {
      device.driver.eventDestroy(handle);
    }
  }

  DeviceState &device;
  gpu::EventHandle handle = nullptr;
};

Event::Event(Device device) : state(std::make_shared<State>(stateOf(device))) {
  DeviceState &owner = state->device;
  throwIfFailed(owner.makeCurrent());
  throwIfFailed(
      owner.check(owner.driver.eventCreate(&state->handle, gpu::eventWithTimes),
                  "making an event"));
}

static void recordOn(StreamState &stream, DeviceState &device,
                     gpu::EventHandle event) {
  throwIfFailed(device.makeCurrent());
  throwIfFailed(device.check(device.driver.eventRecord(event, stream.handle),
                             "recording an event", &stream));
}

void Event::record() const {
  recordOn(state->device.currentStream(), state->device, state->handle);
}

void Event::record(const Stream &stream) const {
  recordOn(*stream.state, state->device, state->handle);
}

void Event::synchronize() const {
  throwIfFailed(state->device.makeCurrent());
  throwIfFailed(
      state->device.check(state->device.driver.eventSynchronize(state->handle),
                          "waiting for an event"));
}

bool Event::isDone() const {
  gpu::Result result = state->device.driver.eventQuery(state->handle);
  if (result == gpu::NotReady) {
    return false;
  }
  throwIfFailed(state->device.check(result, "asking for an event"));
  return true;
}

double Event::millisecondsSince(const Event &start) const {
  start.synchronize();
  synchronize();
  float ms = 0;
  throwIfFailed(
      state->device.check(state->device.driver.eventElapsedTime(
                              &ms, start.state->handle, state->handle),
                          "reading the time between two events"));
  return double{ms};
}

void Stream::wait(const Event &event) const {
  DeviceState &device = state->device;
  throwIfFailed(device.makeCurrent());
  throwIfFailed(device.check(
      device.driver.streamWaitEvent(state->handle, event.state->handle, 0),
      "waiting for an event", state.get()));
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

Graph Graph::capture(Device device, const std::function<void()> &work) {
  Graph graph;
  graph.state = std::make_shared<gpu::Capture>(stateOf(device));
  gpu::Capture &recording = *graph.state;
  throwIfFailed(recording.begin());
  try {
    StreamGuard guard{Stream(recording.stream)};
    work();
  } catch (...) {
    recording.abandon();
    throw;
  }
  throwIfFailed(recording.end());
  return graph;
}

static gpu::Capture &require(const std::shared_ptr<gpu::Capture> &state) {
  if (!state) {
    raise({ErrorCode::InvalidArgument,
           "this Graph is empty; make one with Graph::capture",
           {}});
  }
  return *state;
}

static void launchGraph(gpu::Capture &graph, StreamState &stream) {
  DeviceState &device = graph.device;
  throwIfFailed(device.makeCurrent());
  WatchedActivity watched(Activity::Kind::Graph, "graph", device.place, 0,
                          &stream);
  throwIfFailed(
      device.check(device.driver.graphLaunch(graph.exec, stream.handle),
                   "running a graph", &stream));
}

void Graph::replay() const {
  gpu::Capture &graph = require(state);
  launchGraph(graph, graph.device.currentStream());
}

void Graph::replay(const Stream &stream) const {
  launchGraph(require(state), *stream.state);
}

size_t Graph::nodes() const { return require(state).nodes; }

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

void synchronize(Device device) {
  if (!device.isHost()) {
    throwIfFailed(stateOf(device).synchronize());
  }
}

void useContext(Device device, void *context) {
  if (device.isHost()) {
    stateOf(device); // says why not
  }
  throwIfFailed(DeviceState::useContext(
      device, static_cast<gpu::ContextHandle>(context)));
}

MemoryUse memoryUse(Device device) {
  if (device.isHost()) {
    return {hostMemoryUse(), hostMemoryCached(), 0, 0};
  }
  DeviceState &state = stateOf(device);
  throwIfFailed(state.makeCurrent());
  gpu::Memory::Use use = state.memory.use();
  size_t available = 0, total = 0;
  throwIfFailed(state.check(state.driver.memGetInfo(&available, &total),
                            "reading the device's free memory"));
  return {use.usedBytes, use.cachedBytes, available, total};
}

void emptyCache(Device device) {
  if (device.isHost()) {
    emptyHostCache();
  } else {
    stateOf(device).memory.emptyCache();
  }
}

} // namespace nereid
