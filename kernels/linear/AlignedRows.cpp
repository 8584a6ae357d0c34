//===- AlignedRows.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/AlignedRows.h"

#include "kernels/operator/OperatorKernel.h"

using namespace nereid;
using namespace nereid::kernels;

bool kernels::runAlongFirst(const Tensor &matrices) {
  return matrices.stride(1) == 1 && matrices.size(1) > 1;
}

int64_t kernels::unitOfRows(const Tensor &matrices) {
  constexpr int64_t engineBytes = 16;
  bool isTurned = runAlongFirst(matrices);
  int64_t inner = matrices.stride(isTurned ? 1 : 2),
          outer = matrices.stride(isTurned ? 2 : 1);
  if (inner != 1 ||
      reinterpret_cast<uintptr_t>(matrices.data()) % engineBytes != 0) {
    return 0;
  }
  for (int64_t unit :
       {seenMultiples, engineBytes / int64_t(byteSize(matrices.dtype()))}) {
    if (outer % unit == 0 && matrices.stride(0) % unit == 0) {
      return unit;
    }
  }
  return 0;
}

Tensor kernels::withAlignedRows(const Tensor &matrices, bool alongFirst) {
  constexpr int64_t lineBytes = 128;
  bool repeats = matrices.size(0) > 1 && matrices.stride(0) == 0;
  Tensor from = repeats ? matrices.slice(0, 0, 1) : matrices;
  if (alongFirst) {
    from = from.transpose(1, 2);
  }
  int64_t line = lineBytes / int64_t(byteSize(from.dtype()));
  Shape shape = from.shape();
  shape[2] = cdiv(shape[2], line) * line;
  Tensor copy =
      empty(shape, from.dtype(), from.device()).slice(2, 0, from.size(2));
  copy.copyFrom(from);
  if (alongFirst) {
    copy = copy.transpose(1, 2);
  }
  return repeats ? copy.expand({matrices.size(0), -1, -1}) : copy;
}
