//===- FakeDriverStreams.cpp - Streams, events and graphs -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/testing/FakeWorld.h"

#include <algorithm>
#include <utility>

using namespace nereid::gpu;

extern "C" {

Result cuStreamCreate(StreamHandle *stream, unsigned) {
  NEREID_FAKE("cuStreamCreate");
  *stream = new StreamObject;
  world().streams.insert(*stream);
  return Success;
}

Result cuStreamDestroy_v2(StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  drain(*stream);
  world().streams.erase(stream);
  delete stream;
  return Success;
}

Result cuStreamSynchronize(StreamHandle stream) {
  NEREID_FAKE("cuStreamSynchronize");
  return streamOf(stream).capture() ? captureUnsupported
                                    : drain(streamOf(stream));
}

Result cuStreamQuery(StreamHandle stream) {
  NEREID_FAKE("cuStreamQuery");
  return streamOf(stream).work.empty() ? Success : NotReady;
}

Result cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  NEREID_FAKE("cuStreamWaitEvent");
  uint64_t point = event->recorded;
  StreamHandle other = event->stream;
  StreamObject *capture = streamOf(stream).capture();
  if (capture && point && event->capture != capture) {
    capture->isInvalid = true;
    return captureIsolation;
  }
  if (event->capture && world().streams.count(event->capture) &&
      event->capture->capturing) {
    streamOf(stream).joined =
        event->capture == &streamOf(stream) ? nullptr : event->capture;
    return Success; // pieces are captured in one order
  }
  if (!point || &streamOf(other) == &streamOf(stream)) {
    return Success;
  }
  push(stream, [=] {
    while (event->reached < point && world().streams.count(&streamOf(other)) &&
           !streamOf(other).work.empty()) {
      runOne(streamOf(other));
    }
  });
  return Success;
}

Result cuStreamBeginCapture_v2(StreamHandle stream, int) {
  NEREID_FAKE("cuStreamBeginCapture_v2");
  stream->capturing = true;
  return Success;
}

Result cuStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  NEREID_FAKE("cuStreamEndCapture");
  stream->capturing = false;
  for (StreamObject *other : world().streams) {
    if (other->joined == stream) {
      other->joined = nullptr;
    }
  }
  std::vector<std::function<void()>> captured;
  captured.swap(stream->captured);
  if (std::exchange(stream->isInvalid, false)) {
    *graph = nullptr;
    return captureInvalidated;
  }
  *graph = new GraphObject{std::move(captured)};
  return Success;
}

Result cuEventCreate(EventHandle *event, unsigned) {
  NEREID_FAKE("cuEventCreate");
  *event = new EventObject;
  return Success;
}

// Leaked: a wait for it may be queued.
Result cuEventDestroy_v2(EventHandle) { return Success; }

Result cuEventRecord(EventHandle event, StreamHandle stream) {
  NEREID_FAKE("cuEventRecord");
  uint64_t point = ++world().events;
  event->recorded = point;
  event->stream = stream;
  event->capture = streamOf(stream).capture();
  if (event->capture) {
    return Success; // an edge of the graph, no node
  }
  push(stream, [=] {
    event->reached = std::max(event->reached, point);
    event->milliseconds = fakeDriver().clockMs;
  });
  return Success;
}

Result cuEventSynchronize(EventHandle event) {
  NEREID_FAKE("cuEventSynchronize");
  StreamObject &stream = streamOf(event->stream);
  while (event->reached < event->recorded && !stream.work.empty() &&
         !fakeDriver().fatal) {
    runOne(stream);
  }
  return fakeDriver().fatal;
}

Result cuEventQuery(EventHandle event) {
  NEREID_FAKE("cuEventQuery");
  return event->reached < event->recorded ? NotReady : Success;
}

Result cuEventElapsedTime(float *ms, EventHandle start, EventHandle end) {
  NEREID_FAKE("cuEventElapsedTime");
  *ms = static_cast<float>(end->milliseconds - start->milliseconds);
  return Success;
}

Result cuGraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle graph,
                                   unsigned long long) {
  NEREID_FAKE("cuGraphInstantiateWithFlags");
  *exec = new GraphExecObject{graph->work};
  return Success;
}

Result cuGraphGetNodes(GraphHandle graph, GraphNodeHandle *, size_t *count) {
  *count = graph->work.size();
  return Success;
}

Result cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  NEREID_FAKE("cuGraphLaunch");
  for (auto &piece : exec->work) {
    push(stream, piece);
  }
  return Success;
}

Result cuGraphDestroy(GraphHandle graph) {
  delete graph;
  return Success;
}

Result cuGraphExecDestroy(GraphExecHandle exec) {
  delete exec;
  return Success;
}

} // extern "C"
