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
    int64_t own = strides[t][size_t(d)];
    if (!stride) {
      stride = own;
    } else if (own != next) {
      return std::nullopt;
    }
    next = own * sizes[size_t(d)];
  }
  return stride.value_or(0);
}

Loops expression::planLoops(const Shape &shape,
                            std::span<const Tensor> tensors) {
  Loops loops;
  loops.strides.resize(tensors.size());
  int64_t count = 1, furthest = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t size = shape[axis];
    count *= size;
    if (size == 1) {
      continue;
    }
    std::vector<int64_t> steps(tensors.size());
    bool merges = !loops.sizes.empty();
    for (size_t t = 0; t < tensors.size(); ++t) {
      int missing = int(shape.size()) - tensors[t].rank();
      int own = int(axis) - missing;
      steps[t] =
          own < 0 || tensors[t].size(own) == 1 ? 0 : tensors[t].stride(own);
      merges = merges && loops.strides[t].back() == steps[t] * size;
    }
    if (merges) {
      loops.sizes.back() *= size;
    } else {
      loops.sizes.push_back(size);
    }
    for (size_t t = 0; t < tensors.size(); ++t) {
      if (merges) {
        loops.strides[t].back() = steps[t];
      } else {
        loops.strides[t].push_back(steps[t]);
      }
    }
  }
  if (loops.sizes.empty()) {
    loops.sizes.push_back(1);
    for (auto &strides : loops.strides) {
      strides.push_back(0);
    }
  }
  for (size_t t = 0; t < tensors.size(); ++t) {
    furthest = std::max(furthest, tensors[t].extentBytes() /
                                      int64_t(byteSize(tensors[t].dtype())));
    const std::vector<int64_t> &strides = loops.strides[t];
    if (strides.back() > 1) {
      auto neighbours = std::find(strides.begin(), strides.end(), 1);
      if (neighbours != strides.end() && loops.rowDimension < 0) {
        loops.rowDimension = int(neighbours - strides.begin());
      }
    }
  }
  // Less than 2^31 by what a tile may reach past the end.
  constexpr int64_t most = (int64_t{1} << 31) - (int64_t{1} << 20);
  loops.wide = count > most || furthest > most;
  return loops;
}
