//===- DeviceCopy.cpp - Copies that leave the host's memory ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/DeviceCopy.h"

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

#include <cstring>

namespace nereid {

static gpu::StreamState &streamOf(const Tensor &tensor) {
  return valueOrThrow(gpu::DeviceState::get(tensor.device()))->currentStream();
}

static gpu::DeviceAddress addressOf(const Tensor &tensor) {
  return reinterpret_cast<gpu::DeviceAddress>(tensor.data());
}

/// The bytes from the first to the last element, whatever lies between.
static void copyExtent(const Tensor &to, const Tensor &from) {
  auto bytes = static_cast<size_t>(from.extentBytes());
  if (to.device().isHost()) {
    gpu::StreamState &stream = streamOf(from);
    WatchedActivity watched(Activity::Kind::Copy, "copy to the host",
                            from.device(), bytes, &stream);
    throwIfFailed(stream.device.staging.download(stream, to.data(),
                                                 addressOf(from), bytes));
  } else if (from.device().isHost()) {
    gpu::StreamState &stream = streamOf(to);
    WatchedActivity watched(Activity::Kind::Copy, "copy from the host",
                            to.device(), bytes, &stream);
    throwIfFailed(stream.device.staging.upload(stream, addressOf(to),
                                               from.data(), bytes));
  } else {
    gpu::StreamState &stream = streamOf(to);
    WatchedActivity watched(
        Activity::Kind::Copy,
        from.device() == to.device() ? "copy" : "copy between devices",
        to.device(), bytes, &stream);
    throwIfFailed(gpu::copyOnDevices(stream, addressOf(to), streamOf(from),
                                     addressOf(from), bytes));
  }
}

/// A host tensor with the strides of `model`, its contents those of `model`
/// when asked for.
static Tensor hostTwin(const Tensor &model, bool filled) {
  Tensor bytes = empty({model.extentBytes()}, u8, Device::cpu());
  Tensor twin = Tensor::adopt(std::make_shared<Tensor>(bytes), bytes.data(),
                              model.shape(), model.dtype(), Device::cpu(),
                              model.strides());
  if (filled) {
    copyExtent(twin, model);
  }
  return twin;
}

void copyAcrossDevices(const Tensor &to, const Tensor &from) {
  if (!to.device().isHost() && !from.device().isHost() &&
      to.device().kind() != from.device().kind()) {
    // No driver knows the other one's memory.
    to.copyFrom(hostTwin(from, true));
    return;
  }
  if (to.dtype() == from.dtype() && to.isContiguous() && from.isContiguous()) {
    copyExtent(to, from);
    return;
  }
  if (auto function = deviceFunctions().copy;
      function && to.device() == from.device() && function(to, from)) {
    return;
  }
  Tensor source = from.device().isHost() ? from : hostTwin(from, true);
  if (to.device().isHost()) {
    to.copyFrom(source);
    return;
  }
  Tensor result = hostTwin(to, !to.isContiguous());
  result.copyFrom(source);
  copyExtent(to, result);
}

bool fillOnDevice(const Tensor &to, const Tensor &scalar) {
  size_t bytes = byteSize(to.dtype());
  uint32_t words[2] = {};
  std::memcpy(words, scalar.data(), bytes);
  auto count = static_cast<size_t>(to.numel());
  if (bytes == 8) {
    if (words[0] != words[1]) {
      return false;
    }
    bytes = 4;
    count *= 2;
  }
  if (count) {
    gpu::StreamState &stream = streamOf(to);
    WatchedActivity watched(Activity::Kind::Fill, "fill", to.device(),
                            bytes * count, &stream);
    throwIfFailed(gpu::fill(stream, addressOf(to), words[0], bytes, count));
  }
  return true;
}

} // namespace nereid
