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

/// `second` may be undefined.
static std::pair<Tensor, Tensor> launch(const Tensor &first,
                                        const Tensor &second, DType dtype) {
  int64_t programs = first.size(0), columns = first.size(1);
  Tensor sum = empty({columns}, dtype, first.device()), other;
  if (second.defined()) {
    other = empty({columns}, dtype, first.device());
  }
  // A GPU's program has its rows' loads under way at once; a host's goes over
  // them, also over those that are masked out, and has 64 parts at most.
  constexpr int64_t columnsOfProgram = 16, most = 64;
  int64_t rowsAtOnce = 512;
  if (first.device().isHost()) {
    rowsAtOnce =
        hasCompiler()
            ? std::min<int64_t>(std::bit_ceil(uint64_t(programs)), most)
            : most;
  }
  static const OperatorKernel sums("layer_norm", "column_sums_kernel");
  sums[{cdiv(columns, columnsOfProgram), second.defined() ? 2 : 1}](
      sum, orNone(other), first, second.defined() ? second : first, programs,
      columns, "BLOCK_M"_a = rowsAtOnce, "BLOCK_N"_a = columnsOfProgram,
      "num_warps"_a = 8);
  return {sum, other};
}

Tensor kernels::columnSums(const Tensor &parts, DType dtype) {
  return launch(parts, {}, dtype).first;
}

std::pair<Tensor, Tensor> kernels::columnSums(const Tensor &first,
                                              DType firstType,
                                              const Tensor &second,
                                              DType secondType) {
  if (first.defined() && second.defined() && firstType == secondType) {
    return launch(first, second, firstType);
  }
  return {first.defined() ? columnSums(first, firstType) : Tensor(),
          second.defined() ? columnSums(second, secondType) : Tensor()};
}
