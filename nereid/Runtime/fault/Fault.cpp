//===- Fault.cpp - What a kernel that stops itself is reported as ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/fault/Fault.h"

#include "nereid/Runtime/launch/Composite.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace nereid {

static bool holdsPointer(const Argument &argument) {
  return argument.kind == Argument::Kind::Pointer ||
         (argument.kind == Argument::Kind::Tuple &&
          std::any_of(argument.tuple->items.begin(),
                      argument.tuple->items.end(), holdsPointer));
}

std::vector<AddressRange> tensorRanges(const LaunchBinding &binding) {
  std::vector<AddressRange> ranges;
  forEachTensor(binding, [&](const std::string &, const Tensor &tensor) {
    auto begin = reinterpret_cast<uint64_t>(tensor.data());
    ranges.push_back(
        {begin, begin + static_cast<uint64_t>(tensor.extentBytes())});
  });
  for (size_t i = 0; i < binding.size(); ++i) {
    if (holdsPointer(*binding.get(i))) {
      ranges.push_back({0, UINT64_MAX}); // it may be anywhere
    }
  }
  return ranges;
}

static std::string tuple(std::span<const int64_t> values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(values[i]);
  }
  return text + ")";
}

/// The index of a linear element in a tile, if the tile's shape is known.
static std::vector<int64_t> tileIndex(const ImageSite &site, int64_t element) {
  std::vector<int64_t> index(site.shape.size());
  for (size_t i = site.shape.size(); i-- > 0;) {
    int64_t size = std::max<int64_t>(site.shape[i], 1);
    index[i] = element % size;
    element /= size;
  }
  return index;
}

/// By an image parameter's name; null when it is no tensor.
static const Tensor *tensorNamed(const LaunchBinding &binding,
                                 const std::string &name) {
  const Tensor *found = nullptr;
  forEachTensor(binding, [&](const std::string &its, const Tensor &tensor) {
    found = its == name ? &tensor : found;
  });
  return found;
}

/// The tensor whose memory lies nearest to an address.
static std::pair<const Tensor *, std::string>
nearestTensor(const LaunchBinding &binding, uint64_t address) {
  std::pair<const Tensor *, std::string> best = {nullptr, ""};
  uint64_t bestDistance = UINT64_MAX;
  forEachTensor(binding, [&](const std::string &name, const Tensor &tensor) {
    auto begin = reinterpret_cast<uint64_t>(tensor.data());
    uint64_t end = begin + static_cast<uint64_t>(tensor.extentBytes());
    uint64_t distance = address < begin  ? begin - address
                        : address >= end ? address - end
                                         : 0;
    if (distance < bestDistance) {
      bestDistance = distance;
      best = {&tensor, name};
    }
  });
  return best;
}

/// "element 1000 of x_ptr, which is fp32[1000]: its elements are 0 to 999".
static std::string badElement(const Tensor &tensor, const std::string &name,
                              uint64_t address) {
  auto bytes = static_cast<int64_t>(byteSize(tensor.dtype()));
  int64_t offset =
      static_cast<int64_t>(address - reinterpret_cast<uint64_t>(tensor.data()));
  // Rounds down, so that an address just before the tensor is element -1.
  int64_t element = (offset - (offset % bytes + bytes) % bytes) / bytes;
  int64_t count = tensor.extentBytes() / bytes;
  std::string text = "element " + std::to_string(element) + " of '" + name +
                     "', which is " + tensor.str();
  return count ? text + ": its elements are 0 to " + std::to_string(count - 1)
               : text + " and has none";
}

static std::string describeBounds(const LaunchBinding &binding,
                                  const KernelImage &image,
                                  const ImageSite &site, const Fault &fault) {
  std::string text = "out-of-bounds access";
  if (!site.message.empty()) {
    text += " (" + site.message + ")";
  }
  const Tensor *tensor = nullptr;
  std::string name;
  if (site.parameter >= 0 &&
      static_cast<size_t>(site.parameter) < image.parameters.size()) {
    name = image.parameters[static_cast<size_t>(site.parameter)].name;
    tensor = tensorNamed(binding, name);
  }
  if (tensor) {
    return text + ": " + badElement(*tensor, name, fault.value);
  }
  std::tie(tensor, name) = nearestTensor(binding, fault.value);
  if (!tensor) {
    return text + ": the launch has no tensors";
  }
  return text + ": outside every argument; as counted from the nearest, " +
         badElement(*tensor, name, fault.value);
}

Failure faultFailure(const LaunchBinding &binding,
                     const Specialization &specialization, const Fault &fault) {
  const KernelImage &image = specialization.loaded->image;
  const std::string &kernel = binding.kernel.description.name;
  Failure failure{
      ErrorCode::KernelFault, kernel + ": the kernel was stopped", {}};
  if (fault.site >= image.sites.size()) {
    failure.message += " at an unknown place";
    return failure;
  }
  const ImageSite &site = image.sites[fault.site];
  Diagnostic d;
  d.location = site.location;
  d.sourceLine = site.sourceLine;
  switch (site.kind) {
  case ImageSite::Kind::Assert:
    d.message = "device_assert failed";
    if (!site.message.empty()) {
      d.message += ": " + site.message;
    }
    break;
  case ImageSite::Kind::Bounds:
    d.message = describeBounds(binding, image, site, fault);
    d.hint = "mask the access: tl.load(ptr, mask=offsets < n)";
    break;
  case ImageSite::Kind::Nan:
    d.message = "NaN";
    if (!site.message.empty()) {
      d.message += " in " + site.message;
    }
    break;
  case ImageSite::Kind::Print:
    d.message = "failed";
    break;
  }
  Diagnostic note;
  note.severity = Severity::Note;
  note.message = "in program (" + std::to_string(fault.program[0]) + ", " +
                 std::to_string(fault.program[1]) + ", " +
                 std::to_string(fault.program[2]) + ") of kernel '" + kernel +
                 "'";
  if (!site.shape.empty()) {
    note.message +=
        ", element " + tuple(tileIndex(site, fault.element)) + " of the tile";
  } else if (fault.element > 0) {
    note.message +=
        ", element " + std::to_string(fault.element) + " of the tile";
  }
  d.notes.push_back(std::move(note));
  failure.diagnostics.push_back(std::move(d));
  return failure;
}

} // namespace nereid
