//===- FewRows.cpp - Products of a row or a few -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Product.h"

#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/Grid.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

bool kernels::runFewRows(const Product &p, const Tensor &y) {
  bool isHost = y.device().isHost();
  int64_t m = p.a.size(1), n = p.b.size(2), k = p.a.size(2);
  // Each row reads `b` again, out of a cache.
  int64_t mostRows = isHost ? 1 : 8;
  if (p.a.size(0) != 1 || p.b.size(0) != 1 || m > mostRows || k == 0 ||
      p.b.stride(1) != 1 || p.sumsBatches || !isFloat(p.a.dtype()) ||
      p.options.tf32) {
    return false;
  }
  int64_t blockK, blockN;
  if (isHost) {
    blockK = std::min<int64_t>(nextPowerOf2(k), 16);
    blockN = 16;
  } else {
    // 16 bytes of each row of `b` for each of 128 threads.
    blockK = std::min<int64_t>(nextPowerOf2(k),
                               2048 / int64_t(byteSize(p.a.dtype())));
    blockN = n >= 4096 ? 8 : 4;
  }
  const Tensor &residual = p.options.residual;
  bool plain = !p.options.bias.defined() && !residual.defined() &&
               !p.before.defined() && !p.of.defined() &&
               p.options.activation == Activation::None && p.options.scale == 1;
  static const OperatorKernel kernel("linear", "few_rows_kernel");
  kernel[{m * cdiv(n, blockN)}](
      y, p.a, p.b, orNone(contiguousOrNone(p.options.bias)), orNone(residual),
      orNone(p.before), orNone(p.of), m, n, k, p.a.stride(1), p.a.stride(2),
      p.b.stride(2), residual.defined() ? residual.stride(1) : 0,
      residual.defined() ? residual.stride(2) : 0, p.options.scale,
      "BLOCK_N"_a = blockN, "BLOCK_K"_a = blockK, "EVEN"_a = k % blockK == 0,
      "ACTIVATION"_a = nameOf(p.options.activation), "PLAIN"_a = plain,
      "num_warps"_a = 4);
  return true;
}
