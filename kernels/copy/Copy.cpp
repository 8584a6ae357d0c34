//===- Copy.cpp -------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/copy/Copy.h"

#include "kernels/expression/Loops.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/Grid.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static DType bitsOf(DType dtype) {
  constexpr DType types[] = {u8, u16, u32, u64};
  size_t bytes = byteSize(dtype);
  return types[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

static bool converts(DType to, DType from) {
  auto isHalf = [](DType t) { return t == f16 || t == bf16; };
  return (to == f32 && (isHalf(from) || from == i32)) ||
         (from == f32 && isHalf(to)) || (to == i64 && from == i32) ||
         (to == i32 && from == i64);
}

bool kernels::copyByKernel(const Tensor &to, const Tensor &from) {
  bool isSame = to.dtype() == from.dtype();
  if (!isSame && !converts(to.dtype(), from.dtype())) {
    return false;
  }
  const Tensor tensors[] = {isSame ? to.bitcast(bitsOf(to.dtype())) : to,
                            isSame ? from.bitcast(bitsOf(to.dtype())) : from};
  const Tensor *const both[] = {&tensors[0], &tensors[1]};
  expression::Loops loops;
  expression::planLoops(loops, to.shape(), both);
  if (loops.sizes.size() > 4) {
    return false;
  }
  int64_t n[4] = {1, 1, 1, 1}, y[4] = {}, x[4] = {};
  size_t missing = 4 - loops.sizes.size();
  for (size_t d = 0; d < loops.sizes.size(); ++d) {
    n[missing + d] = loops.sizes[d];
    y[missing + d] = loops.stride(0, d);
    x[missing + d] = loops.stride(1, d);
  }
  constexpr int64_t longRow = 256;
  bool isRow = y[3] == 1 && x[3] == 1 && n[3] >= longRow &&
               (isSame || (isFloat(to.dtype()) && isFloat(from.dtype())));
  int64_t blockM = isRow ? 1 : 16, blockN = isRow ? 1024 : 64;
  static const OperatorKernel kernel("copy", "copy_kernel");
  kernel[{cdiv(n[0] * n[1] * n[2], blockM) * cdiv(n[3], blockN)}](
      tensors[0], tensors[1], n[0], n[1], n[2], n[3], y[0], y[1], y[2], y[3],
      x[0], x[1], x[2], x[3], "BLOCK_M"_a = blockM, "BLOCK_N"_a = blockN,
      "num_warps"_a = 4);
  return true;
}
