//===- Device.cpp - Where tensors live and kernels run --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Device.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Knobs.h"

#include <charconv>

namespace nereid {

std::vector<Device> Device::available() {
  std::vector<Device> devices;
  for (Kind kind : {Kind::Cuda, Kind::Hip}) {
    Expected<int> gpus = gpu::DeviceState::count(kind);
    for (int i = 0; gpus.ok() && i < *gpus; ++i) {
      devices.push_back(Device(kind, i));
    }
  }
  devices.push_back(cpu());
  devices.push_back(interp());
  return devices;
}

Device Device::best() {
  if (knobs().interp) {
    return cpu();
  }
  auto has = [](Kind kind) {
    Expected<int> gpus = gpu::DeviceState::count(kind);
    return gpus.ok() && *gpus > 0;
  };
  if (has(Kind::Cuda)) {
    return cuda();
  }
  if (has(Kind::Hip)) {
    Expected<gpu::DeviceState *> first = gpu::DeviceState::get(hip());
    if (first.ok() && gpu::isCompiledFor((*first)->properties.architecture)) {
      return hip();
    }
  }
  return cpu();
}

std::string Device::str() const {
  switch (kind_) {
  case Kind::Cuda:
    return "cuda:" + std::to_string(index_);
  case Kind::Hip:
    return "hip:" + std::to_string(index_);
  case Kind::Interp:
    return "interp";
  case Kind::Cpu:
    break;
  }
  return "cpu";
}

static Failure unknownDevice(std::string_view name, std::string why = "") {
  std::vector<std::string> names = {"cuda", "hip"};
  std::string list;
  for (Device device : Device::available()) {
    names.push_back(device.str());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  std::string kind(name.substr(0, name.find(':')));
  return {ErrorCode::NotFound,
          "no device '" + std::string(name) + "'" +
              (why.empty() ? "" : ": " + why) +
              "; expected one of this machine's: " + list +
              (why.empty() ? didYouMean(kind, names) : ""),
          {}};
}

static Expected<Device> gpuDevice(std::string_view name, Device device) {
  Expected<int> gpus = gpu::DeviceState::count(device.kind());
  if (!gpus.ok()) {
    return unknownDevice(name, gpus.failure().message);
  }
  if (device.index() >= *gpus) {
    const char *kind = device.kind() == Device::Kind::Hip ? " hip" : " cuda";
    return unknownDevice(name, "there " +
                                   std::string(*gpus == 1 ? "is " : "are ") +
                                   std::to_string(*gpus) + kind + " device" +
                                   (*gpus == 1 ? "" : "s"));
  }
  return device;
}

Expected<Device> Device::tryParse(Text text) {
  std::string_view name = text;
  size_t colon = name.find(':');
  std::string_view kind = name.substr(0, colon);
  int index = 0;
  if (colon != std::string_view::npos) {
    std::string_view digits = name.substr(colon + 1);
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || end != digits.data() + digits.size() ||
        index < 0) {
      return unknownDevice(name, "expected a number after ':'");
    }
  }
  if (kind == "cuda" || kind == "hip") {
    return gpuDevice(name, kind == "hip" ? hip(index) : cuda(index));
  }
  for (Device device : {cpu(), interp()}) {
    if (kind != device.str()) {
      continue;
    }
    if (index != 0) {
      return unknownDevice(name, "there is one " + device.str() +
                                     " device, number 0");
    }
    return device;
  }
  return unknownDevice(name);
}

Device Device::parse(Text text) { return valueOrThrow(tryParse(text)); }

} // namespace nereid
