//===- Device.cpp - Where tensors live and kernels run --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Device.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/EditDistance.h"

#include <charconv>

namespace nereid {

std::vector<Device> Device::available() { return {cpu(), interp()}; }

Device Device::best() { return available().front(); }

std::string Device::str() const {
  std::string name = kind_ == Kind::Cpu ? "cpu" : "interp";
  return index_ ? name + ":" + std::to_string(index_) : name;
}

static Failure unknownDevice(std::string_view name, std::string why = "") {
  std::vector<std::string> names;
  std::string list;
  for (Device device : Device::available()) {
    names.push_back(device.str());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  std::string kind(name.substr(0, name.find(':')));
  std::string hint = didYouMean(kind, names);
  if (why.empty() && kind == "cuda") {
    why = "this build has no CUDA back end";
  }
  return {ErrorCode::NotFound,
          "no device '" + std::string(name) + "'" +
              (why.empty() ? "" : ": " + why) + "; this machine has " + list +
              hint,
          {}};
}

Expected<Device> Device::tryParse(std::string_view name) {
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
  for (Device device : available()) {
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

Device Device::parse(std::string_view name) {
  return valueOrThrow(tryParse(name));
}

} // namespace nereid
