//===- ColumnSums.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/OperatorKernel.h"

using namespace nereid;
using namespace nereid::literals;

Tensor kernels::columnSums(const Tensor &parts, DType dtype) {
  int64_t programs = parts.size(0), columns = parts.size(1);
  Tensor sum = empty({columns}, dtype, parts.device());
  constexpr int64_t columnsOfProgram = 16, rowsAtOnce = 512;
  static const OperatorKernel sums("layer_norm", "column_sums_kernel");
  sums[{cdiv(columns, columnsOfProgram), 1}](
      sum, parts, programs, columns, "BLOCK_M"_a = rowsAtOnce,
      "BLOCK_N"_a = columnsOfProgram, "num_warps"_a = 8);
  return sum;
}
