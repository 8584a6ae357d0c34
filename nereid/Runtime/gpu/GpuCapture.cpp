//===- GpuCapture.cpp - Recorded work that is run again ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuCapture.h"

namespace nereid::gpu {

Capture::~Capture() {
  if (exec && device.makeCurrent().ok()) {
    device.driver.graphExecDestroy(exec);
  }
  for (BlockNode &block : blocks) {
    device.memory.release(std::move(block));
  }
}

Status Capture::begin() {
  Status status = device.makeCurrent();
  StreamHandle handle = nullptr;
  if (status.ok()) {
    status =
        device.check(device.driver.streamCreate(&handle, streamNonBlocking),
                     "making a stream");
  }
  if (!status.ok()) {
    return status;
  }
  // Not among the device's streams: nothing ever runs on it.
  stream = std::make_shared<StreamState>(device, handle, true);
  // From here on what is freed stays with this recording. Before anything is
  // waited for: that would end another one.
  if (!device.memory.setCapture(this)) {
    return {ErrorCode::InvalidArgument,
            device.name() + ": a graph is being recorded already"};
  }
  // A graph waits for no event of the streams that it is replayed beside: what
  // has been freed is the recording's to use once their work has ended.
  status = device.check(device.driver.ctxSynchronize(),
                        "waiting for the device's work");
  if (status.ok()) {
    status =
        device.check(device.driver.streamBeginCapture(handle, captureRelaxed),
                     "beginning to record a graph");
  }
  if (!status.ok()) {
    device.memory.setCapture(nullptr);
    return status;
  }
  stream->capture = this;
  return Status::success();
}

Expected<GraphHandle> Capture::finishRecording() {
  GraphHandle graph = nullptr;
  Status status = device.makeCurrent();
  if (status.ok()) {
    status =
        device.check(device.driver.streamEndCapture(stream->handle, &graph),
                     "recording a graph");
  }
  stream->capture = nullptr;
  device.memory.setCapture(nullptr);
  if (!status.ok()) {
    return status;
  }
  return graph;
}

Status Capture::end() {
  Expected<GraphHandle> graph = finishRecording();
  if (!graph.ok()) {
    return graph.status();
  }
  const Driver &driver = device.driver;
  Status status = device.check(driver.graphGetNodes(*graph, nullptr, &nodes),
                               "reading a graph");
  if (status.ok()) {
    status = device.check(driver.graphInstantiate(&exec, *graph, 0),
                          "making a graph");
  }
  driver.graphDestroy(*graph);
  return status;
}

void Capture::abandon() {
  Expected<GraphHandle> graph = finishRecording();
  if (graph.ok() && *graph) {
    device.driver.graphDestroy(*graph);
  }
}

} // namespace nereid::gpu
