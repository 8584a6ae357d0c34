//===- SimulatedStreams.cpp - Streams, events, graphs ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU runs streams beside each other, in any order that events allow. Here
// work runs when it is queued. With the option `lazy`, and in graphs for
// streams that have joined a recording, it runs as late as possible: when
// something waits for it. A wait that is missing then shows in the values.
//
// A recording follows CUDA's rules: a stream that waits for an event of it
// joins, an event from outside cannot be waited for, and every member must be
// waited for before the recording ends.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"

#include <algorithm>
#include <chrono>

namespace nereid::gpu::simulated {

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Runs the first `place` works of a stream. Loops over waits end, since a work
/// is taken out before it is begun.
static void advance(StreamQueue &queue, size_t place) {
  std::lock_guard lock(queue.context->mutex);
  while (queue.done < place && !queue.works.empty()) {
    StreamItem work = std::move(queue.works.front());
    queue.works.pop_front();
    ++queue.done;
    if (work.awaited) {
      advance(*work.awaited, work.place);
    } else if (world().fatal == Success) {
      work.run();
    }
  }
}

static size_t given(const StreamQueue &queue) {
  return queue.done + queue.works.size();
}

namespace {
/// One launch of a graph: its first stream runs as far as it goes, others as
/// far as it waits for them.
class Replay {
public:
  explicit Replay(const GraphObject &graph)
      : graph(graph), done(graph.streams.size()) {}

  Result run() { return advance(0, graph.streams[0].size()); }

private:
  Result advance(size_t stream, size_t place) {
    Result result = Success;
    while (done[stream] < place && result == Success) {
      const GraphItem &work = graph.streams[stream][done[stream]++];
      result = world().fatal ? Result(world().fatal)
               : work.run    ? work.run()
                             : advance(work.awaited, work.place);
    }
    return result;
  }

  const GraphObject &graph;
  std::vector<size_t> done;
};
} // namespace

Result enqueue(StreamHandle stream, std::function<Result()> work) {
  if (stream && stream->capture) {
    stream->capture->graph.streams[stream->number].push_back({std::move(work)});
    ++stream->before[stream->number];
    return Success;
  }
  if (Result fatal = world().fatal) {
    return fatal;
  }
  if (!stream || !world().options.isLazy) {
    return work();
  }
  std::lock_guard lock(stream->queue->context->mutex);
  stream->queue->works.push_back({std::move(work)});
  return Success;
}

Result finish(StreamHandle stream) {
  if (stream && world().options.isLazy) {
    std::lock_guard lock(stream->queue->context->mutex);
    advance(*stream->queue, given(*stream->queue));
  }
  return world().fatal;
}

Result runAll() {
  ContextHandle context = nullptr;
  ctxGetCurrent(&context);
  if (context && world().options.isLazy) {
    std::lock_guard lock(context->mutex);
    for (StreamHandle stream : context->streams) {
      advance(*stream->queue, given(*stream->queue));
    }
  }
  return world().fatal;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Result streamCreate(StreamHandle *stream, unsigned) {
  ContextHandle context = nullptr;
  ctxGetCurrent(&context);
  context = context ? context : world().contexts.data();
  *stream = new StreamObject;
  (*stream)->queue->context = context;
  std::lock_guard lock(context->mutex);
  context->streams.push_back(*stream);
  return Success;
}

Result streamDestroy(StreamHandle stream) {
  finish(stream);
  ContextHandle context = stream->queue->context;
  std::lock_guard lock(context->mutex);
  std::erase(context->streams, stream);
  delete stream;
  return Success;
}

Result streamSynchronize(StreamHandle stream) {
  return stream && stream->capture ? captureUnsupported : finish(stream);
}

Result streamQuery(StreamHandle stream) { return streamSynchronize(stream); }

/// Makes it a member of the recording that the event belongs to.
static void join(StreamHandle stream, std::shared_ptr<CaptureObject> capture) {
  stream->number = capture->members.size();
  capture->members.push_back(stream);
  capture->graph.streams.emplace_back();
  stream->capture = std::move(capture);
  stream->before.assign(stream->number + 1, 0);
}

Result streamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  std::shared_ptr<CaptureObject> capture = event->capture.lock();
  if (stream && capture) {
    if (!stream->capture) {
      join(stream, capture);
    }
    if (stream->capture != capture) {
      return captureIsolation;
    }
    capture->graph.streams[stream->number].push_back(
        {nullptr, event->number, event->place});
    stream->before.resize(
        std::max(stream->before.size(), event->before.size()));
    for (size_t i = 0; i < event->before.size(); ++i) {
      stream->before[i] = std::max(stream->before[i], event->before[i]);
    }
    ++stream->before[stream->number];
    return Success;
  }
  if (stream && stream->capture) {
    return event->queue ? captureIsolation : Success;
  }
  if (stream && event->queue && world().options.isLazy) {
    std::lock_guard lock(stream->queue->context->mutex);
    stream->queue->works.push_back({nullptr, event->queue, event->place});
  }
  return Success;
}

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

Result streamBeginCapture(StreamHandle stream, int) {
  join(stream, std::make_shared<CaptureObject>());
  return Success;
}

Result streamEndCapture(StreamHandle stream, GraphHandle *graph) {
  std::shared_ptr<CaptureObject> capture = std::move(stream->capture);
  std::vector<size_t> before = std::move(stream->before);
  bool isJoined = true;
  for (size_t i = 0; i < capture->members.size(); ++i) {
    isJoined &=
        i < before.size() && before[i] == capture->graph.streams[i].size();
    capture->members[i]->capture = nullptr;
  }
  *graph = isJoined ? new GraphObject{std::move(capture->graph)} : nullptr;
  return isJoined ? Success : captureUnjoined;
}

Result graphInstantiate(GraphExecHandle *exec, GraphHandle graph,
                        unsigned long long) {
  *exec = new GraphExecObject{std::make_shared<const GraphObject>(*graph)};
  return Success;
}

Result graphGetNodes(GraphHandle graph, GraphNodeHandle *, size_t *count) {
  *count = 0;
  for (const std::vector<GraphItem> &works : graph->streams) {
    *count += size_t(std::ranges::count_if(
        works, [](const GraphItem &work) { return bool(work.run); }));
  }
  return Success;
}

Result graphLaunch(GraphExecHandle exec, StreamHandle stream) {
  return enqueue(stream,
                 [graph = exec->graph] { return Replay(*graph).run(); });
}

Result graphDestroy(GraphHandle graph) {
  delete graph;
  return Success;
}

Result graphExecDestroy(GraphExecHandle exec) {
  delete exec;
  return Success;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

Result eventCreate(EventHandle *event, unsigned) {
  *event = new EventObject;
  return Success;
}

Result eventDestroy(EventHandle event) {
  delete event;
  return Success;
}

Result eventRecord(EventHandle event, StreamHandle stream) {
  if (stream && stream->capture) {
    event->capture = stream->capture;
    event->number = stream->number;
    event->before = stream->before;
    event->place = stream->before[stream->number];
    return Success;
  }
  event->capture.reset();
  Result result = enqueue(stream, [time = event->milliseconds] {
    *time = std::chrono::duration<double, std::milli>(
                std::chrono::steady_clock::now().time_since_epoch())
                .count();
    return Success;
  });
  if (stream) {
    event->queue = stream->queue;
    event->place = given(*stream->queue);
  }
  return result;
}

Result eventSynchronize(EventHandle event) {
  if (event->queue && world().options.isLazy) {
    advance(*event->queue, event->place);
  }
  return world().fatal;
}

Result eventQuery(EventHandle event) { return eventSynchronize(event); }

Result eventElapsedTime(float *ms, EventHandle start, EventHandle end) {
  *ms = float(*end->milliseconds - *start->milliseconds);
  return Success;
}

} // namespace nereid::gpu::simulated
