//===- OneLaunch.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/join/OneLaunch.h"

#include "kernels/operator/OperatorKernel.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

bool kernels::joinInOneLaunch(const Tensor &y, std::span<const Tensor> parts,
                              int axis) {
  // What a GPU's memory moves in about the time of two launches.
  constexpr size_t small = 4 << 20;
  if (y.device().isHost() || !hasCompiler() || !y.isContiguous() ||
      y.bytes() > small) {
    return false;
  }
  int64_t inner = 1;
  for (int next = axis + 1; next < y.rank(); ++next) {
    inner *= y.size(next);
  }
  Tensor given[4];
  int64_t widths[4] = {};
  size_t count = 0;
  for (const Tensor &part : parts) {
    if (part.numel() == 0) {
      continue;
    }
    if (count == std::size(given) || !part.isContiguous() ||
        part.device() != y.device()) {
      return false;
    }
    given[count] = part;
    widths[count++] = part.size(axis) * inner;
  }
  if (count < 2) {
    return false;
  }
  constexpr int64_t block = 1024;
  static const OperatorKernel kernel("join", "join_kernel");
  kernel[{cdiv(y.numel(), block)}](y, given[0], given[1], orNone(given[2]),
                                   orNone(given[3]), widths[0], widths[1],
                                   widths[2], widths[3], y.numel(),
                                   "BLOCK"_a = block, "num_warps"_a = 4);
  return true;
}
