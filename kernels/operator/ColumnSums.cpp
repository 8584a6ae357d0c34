//===- ColumnSums.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/OperatorKernel.h"

#include <algorithm>
#include <bit>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {
/// What a program reads at once.
struct Block {
  int64_t rows = 512, columns = 16;
};
} // namespace

/// A GPU's program has its rows' loads under way at once. A host's reads rows
/// one after the other, of columns that lie beside each other: few columns of
/// many rows would be lines of one set of its cache.
static Block blockOf(int64_t parts, int64_t columns, Device device) {
  Block block;
  constexpr int64_t most = 64; // parts of a host
  if (device.isHost() && !hasCompiler()) {
    block.rows = most;
  } else if (device.isHost()) {
    block.rows = std::min<int64_t>(std::bit_ceil(uint64_t(parts)), 8);
    block.columns = columns < 2048 ? 64 : 256;
  }
  return block;
}

/// `second` may be undefined.
static std::pair<Tensor, Tensor> launch(const Tensor &first,
                                        const Tensor &second, DType dtype) {
  int64_t programs = first.size(0), columns = first.size(1);
  Tensor sum = empty({columns}, dtype, first.device()), other;
  if (second.defined()) {
    other = empty({columns}, dtype, first.device());
  }
  Block block = blockOf(programs, columns, first.device());
  static const OperatorKernel sums("layer_norm", "column_sums_kernel");
  sums[{cdiv(columns, block.columns), second.defined() ? 2 : 1}](
      sum, orNone(other), first, second.defined() ? second : first, programs,
      columns, "BLOCK_M"_a = block.rows, "BLOCK_N"_a = block.columns,
      "num_warps"_a = 8);
  return {sum, other};
}

Tensor kernels::columnSums(const Tensor &parts, DType dtype) {
  if (parts.size(0) == 1 && dtype == f32) {
    return parts.view({parts.size(1)});
  }
  return launch(parts, {}, dtype).first;
}

std::pair<Tensor, Tensor> kernels::columnSums(const Tensor &first,
                                              DType firstType,
                                              const Tensor &second,
                                              DType secondType) {
  bool isOnePart = first.defined() && first.size(0) == 1;
  if (first.defined() && second.defined() && firstType == secondType &&
      !(isOnePart && firstType == f32)) {
    return launch(first, second, firstType);
  }
  return {first.defined() ? columnSums(first, firstType) : Tensor(),
          second.defined() ? columnSums(second, secondType) : Tensor()};
}
