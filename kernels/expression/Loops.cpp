//===- Loops.cpp ------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Loops.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

int64_t Loops::rows() const {
  if (rowDimension >= 0) {
    return sizes[size_t(rowDimension)];
  }
  int64_t count = 1;
  for (int d = 0; d < last(); ++d) {
    count *= sizes[size_t(d)];
  }
  return count;
}

int64_t Loops::batches() const {
  int64_t count = 1;
  for (int d = 0; d < last(); ++d) {
    count *= isOfRows(d) ? 1 : sizes[size_t(d)];
  }
  return count;
}

std::optional<int64_t> Loops::strideOfRows(size_t t) const {
  std::optional<int64_t> stride;
  int64_t next = 0;
  for (int d = last(); d-- > 0;) {
    if (!isOfRows(d)) {
      continue;
    }
    int64_t own = this->stride(t, size_t(d));
    if (!stride) {
      stride = own;
    } else if (own != next) {
      return std::nullopt;
    }
    next = own * sizes[size_t(d)];
  }
  return stride.value_or(0);
}

void expression::planLoops(Loops &loops, const Shape &shape,
                           std::span<const Tensor *const> tensors) {
  size_t all = tensors.size();
  int64_t count = 1, furthest = 0;
  loops.sizes.reserve(shape.size() + 1);
  loops.steps.reserve((shape.size() + 1) * all);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t size = shape[axis];
    count *= size;
    if (size == 1) {
      continue;
    }
    // The latest dimension's are in front of this one's.
    size_t begin = loops.steps.size();
    bool merges = !loops.sizes.empty();
    for (size_t t = 0; t < all; ++t) {
      const Tensor &tensor = *tensors[t];
      size_t missing = shape.size() - tensor.shape().size();
      size_t own = axis - missing;
      loops.steps.push_back(axis < missing || tensor.shape()[own] == 1
                                ? 0
                                : tensor.strides()[own]);
      merges =
          merges && loops.steps[begin - all + t] == loops.steps.back() * size;
    }
    if (merges) {
      loops.sizes.back() *= size;
      std::copy(loops.steps.begin() + ptrdiff_t(begin), loops.steps.end(),
                loops.steps.begin() + ptrdiff_t(begin - all));
      loops.steps.resize(begin);
    } else {
      loops.sizes.push_back(size);
    }
  }
  if (loops.sizes.empty()) {
    loops.sizes.push_back(1);
    loops.steps.assign(all, 0);
  }
  for (size_t t = 0; t < all; ++t) {
    furthest = std::max(furthest, tensors[t]->extentBytes() /
                                      int64_t(byteSize(tensors[t]->dtype())));
    if (loops.stride(t, size_t(loops.last())) <= 1) {
      continue;
    }
    for (int d = 0; d < loops.last() && loops.rowDimension < 0; ++d) {
      if (loops.stride(t, size_t(d)) == 1) {
        loops.rowDimension = d;
      }
    }
  }
  // Less than 2^31 by what a tile may reach past the end.
  constexpr int64_t most = (int64_t{1} << 31) - (int64_t{1} << 20);
  loops.wide = count > most || furthest > most;
}
