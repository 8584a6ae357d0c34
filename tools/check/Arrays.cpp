//===- Arrays.cpp - The memory of a launch, and copies of it --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include <algorithm>
#include <cstring>

namespace nereid::check {

static constexpr std::byte guardByte{0xab};

static uint64_t addressOf(const Tensor &tensor) {
  return reinterpret_cast<uint64_t>(tensor.data());
}

/// What tensors cover, joined where they overlap.
static std::vector<Arrays::Region>
findRegions(const std::vector<NamedTensor> &tensors) {
  std::vector<Arrays::Region> all, joined;
  for (const NamedTensor &named : tensors) {
    uint64_t begin = addressOf(named.tensor);
    if (int64_t extent = named.tensor.extentBytes()) {
      all.push_back({begin, begin + static_cast<uint64_t>(extent)});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const auto &a, const auto &b) { return a.begin < b.begin; });
  for (const Arrays::Region &region : all) {
    if (!joined.empty() && region.begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, region.end);
    } else {
      joined.push_back(region);
    }
  }
  return joined;
}

static std::vector<std::byte> bytesOf(const Tensor &bytes) {
  Tensor host = bytes.onHost();
  auto *first = static_cast<const std::byte *>(host.data());
  return {first, first + host.numel()};
}

/// The region that an address is in, or else one past; -1 for none.
static int64_t findRegion(const std::vector<Arrays::Region> &regions,
                          const std::vector<uint64_t> &begins,
                          uint64_t address) {
  for (uint64_t past : {uint64_t{0}, uint64_t{1}}) {
    for (size_t r = 0; r < regions.size(); ++r) {
      if (address >= begins[r] &&
          address - begins[r] <
              static_cast<uint64_t>(regions[r].size()) + past) {
        return static_cast<int64_t>(r);
      }
    }
  }
  return -1;
}

Arrays::Arrays(std::vector<NamedTensor> tensors)
    : regions(findRegions(tensors)) {
  std::vector<uint64_t> begins;
  for (const Region &region : regions) {
    // All tensors of a launch are on one device.
    contents.push_back(bytesOf(
        Tensor::borrow(reinterpret_cast<void *>(region.begin), {region.size()},
                       u8, tensors[0].tensor.device())));
    begins.push_back(region.begin);
  }
  for (NamedTensor &named : tensors) {
    View view{std::move(named.name), std::move(named.tensor)};
    if (view.tensor.extentBytes()) {
      while (addressOf(view.tensor) >= regions[view.region].end) {
        ++view.region;
      }
      view.offset = static_cast<int64_t>(addressOf(view.tensor) -
                                         regions[view.region].begin);
    }
    DType dtype = view.tensor.dtype();
    if (dtype == DType::Int64 || dtype == DType::UInt64) {
      forElements(view, [&](int64_t, int64_t offset) {
        uint64_t value;
        std::memcpy(&value, &contents[view.region][offset], sizeof(value));
        view.holdsAddresses |= findRegion(regions, begins, value) >= 0;
      });
    }
    views.push_back(std::move(view));
  }
}

ArraysCopy::ArraysCopy(const Arrays &arrays, Device device,
                       const Contents &contents)
    : arrays(arrays), device_(device) {
  std::vector<uint64_t> from, to;
  for (const Arrays::Region &original : arrays.regions) {
    int64_t bytes = original.size() + 2 * (guard + alignment);
    Region region{empty({bytes}, u8, device), 0, 0};
    uint64_t base = addressOf(region.memory);
    region.begin = (base + guard + alignment - 1) / alignment * alignment +
                   original.begin % alignment;
    region.first = static_cast<int64_t>(region.begin - base);
    from.push_back(original.begin);
    to.push_back(region.begin);
    regions.push_back(std::move(region));
  }
  Contents translated = contents;
  translate(translated, from, to);
  for (size_t r = 0; r < regions.size(); ++r) {
    Region &region = regions[r];
    Tensor host = empty({region.memory.numel()}, u8, Device::cpu());
    auto *first = static_cast<std::byte *>(host.data());
    std::fill_n(first, host.numel(), guardByte);
    std::copy(translated[r].begin(), translated[r].end(), first + region.first);
    region.memory.copyFrom(host);
  }
  for (const Arrays::View &view : arrays.views) {
    if (!view.tensor.extentBytes()) {
      tensors.push_back(
          empty(view.tensor.shape(), view.tensor.dtype(), device));
      continue;
    }
    auto *data = reinterpret_cast<void *>(regions[view.region].begin +
                                          static_cast<uint64_t>(view.offset));
    tensors.push_back(Tensor::borrow(data, view.tensor.shape(),
                                     view.tensor.dtype(), device,
                                     view.tensor.strides()));
  }
}

std::vector<std::byte> ArraysCopy::download(const Region &region) const {
  return bytesOf(region.memory);
}

Contents ArraysCopy::read() const {
  Contents result;
  std::vector<uint64_t> from, to;
  for (size_t r = 0; r < regions.size(); ++r) {
    std::vector<std::byte> all = download(regions[r]);
    auto first = all.begin() + regions[r].first;
    result.emplace_back(first, first + arrays.regions[r].size());
    from.push_back(regions[r].begin);
    to.push_back(arrays.regions[r].begin);
  }
  translate(result, from, to);
  return result;
}

int64_t ArraysCopy::damagedRegion() const {
  for (size_t r = 0; r < regions.size(); ++r) {
    std::vector<std::byte> all = download(regions[r]);
    auto first = all.begin() + regions[r].first;
    auto isWhole = [](std::byte b) { return b == guardByte; };
    if (!std::all_of(all.begin(), first, isWhole) ||
        !std::all_of(first + arrays.regions[r].size(), all.end(), isWhole)) {
      return static_cast<int64_t>(r);
    }
  }
  return -1;
}

void ArraysCopy::translate(Contents &contents,
                           const std::vector<uint64_t> &from,
                           const std::vector<uint64_t> &to) const {
  for (const Arrays::View &view : arrays.views) {
    if (!view.holdsAddresses) {
      continue;
    }
    forElements(view, [&](int64_t, int64_t offset) {
      std::byte *place = &contents[view.region][offset];
      uint64_t value;
      std::memcpy(&value, place, sizeof(value));
      int64_t r = findRegion(arrays.regions, from, value);
      if (r >= 0) {
        value += to[r] - from[r];
        std::memcpy(place, &value, sizeof(value));
      }
    });
  }
}

} // namespace nereid::check
