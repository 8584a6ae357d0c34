//===- Arrays.h - The memory of a launch, and copies of it ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is run once on every executor, each time on a copy of its memory as
// it was. Tensors that share memory share it in the copy; alignment up to 256
// bytes stays; 64-bit integers that are addresses in the launch's memory become
// addresses in the copy's.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_CHECK_ARRAYS_H
#define NEREID_TOOLS_CHECK_ARRAYS_H

#include "nereid/Runtime/Tensor.h"

#include <cstddef>
#include <string>
#include <vector>

namespace nereid::check {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A byte for each byte of each region.
using Contents = std::vector<std::vector<std::byte>>;

/// The memory that tensors view, each byte once.
class Arrays {
public:
  /// [begin, end) on the tensors' device.
  struct Region {
    uint64_t begin, end;
    int64_t size() const { return static_cast<int64_t>(end - begin); }
  };
  struct View {
    std::string name;
    Tensor tensor;
    size_t region = 0;
    int64_t offset = 0; ///< of the first element
    /// May elements be addresses in a region?
    bool holdsAddresses = false;
  };

  explicit Arrays(std::vector<NamedTensor> tensors);

  std::vector<Region> regions;
  std::vector<View> views; ///< in the order of the tensors
  Contents contents;       ///< as they are at construction
};

/// The same on a device, with guards around every region.
class ArraysCopy {
public:
  /// With `contents` in place of the original's.
  ArraysCopy(const Arrays &arrays, Device device, const Contents &contents);
  ArraysCopy(const Arrays &arrays, Device device)
      : ArraysCopy(arrays, device, arrays.contents) {}

  Device device() const { return device_; }
  /// Of view `i`.
  const Tensor &tensor(size_t i) const { return tensors[i]; }
  uint64_t address(size_t region) const { return regions[region].begin; }

  /// What the regions hold now. Addresses are the original's again.
  Contents read() const;
  /// A region with a changed byte in front of it or after it; -1 if none.
  int64_t damagedRegion() const;

private:
  static constexpr int64_t guard = 4096, alignment = 256;
  struct Region {
    Tensor memory; ///< bytes, with guards
    int64_t first; ///< byte of `memory` at which the region begins
    uint64_t begin;
  };
  std::vector<std::byte> download(const Region &region) const;
  /// Replaces addresses in the regions `from` by those in `to`.
  void translate(Contents &contents, const std::vector<uint64_t> &from,
                 const std::vector<uint64_t> &to) const;

  const Arrays &arrays;
  Device device_;
  std::vector<Region> regions;
  std::vector<Tensor> tensors;
};

/// Calls f(i, offset) for every element of a view, row-major: its number and
/// the byte of the region that it begins at.
template <typename F>
void forElements(const Arrays::View &view, F f) {
  const Tensor &tensor = view.tensor;
  auto bytes = static_cast<int64_t>(byteSize(tensor.dtype()));
  std::vector<int64_t> index(tensor.shape().size());
  int64_t offset = view.offset;
  for (int64_t i = 0, n = tensor.numel(); i < n; ++i) {
    f(i, offset);
    for (size_t d = index.size(); d-- > 0;) {
      offset += tensor.strides()[d] * bytes;
      if (++index[d] < tensor.shape()[d]) {
        break;
      }
      offset -= tensor.shape()[d] * tensor.strides()[d] * bytes;
      index[d] = 0;
    }
  }
}

} // namespace nereid::check

#endif // NEREID_TOOLS_CHECK_ARRAYS_H
