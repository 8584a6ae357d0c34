//===- Accumulate.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/accumulate/Accumulate.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

Tensor kernels::accumulate(const Tensor &a, const Tensor &b, bool inPlace) {
  Checks checks("accumulate");
  checks.gradients("a", a);
  checks.gradients("b", b).shape(a.shape(), "that of a");
  // The kernel widens what is added to a sum in fp32.
  bool isWidened = a.dtype() == f32 && b.dtype() != f64;
  Tensor left = a.contiguous(),
         right = (isWidened ? b : b.to(a.dtype())).contiguous();
  Tensor sum =
      inPlace && a.isContiguous() ? a : empty(a.shape(), a.dtype(), a.device());
  if (inPlace) {
    checks.any("a", a).writable();
    a.noteWrite();
  }
  if (a.numel() != 0) {
    int64_t block = hasCompiler() && a.device().isHost() ? 4096 : 1024;
    static const OperatorKernel kernel("accumulate", "accumulate_kernel");
    kernel[{cdiv(a.numel(), block)}](sum, left, right, a.numel(),
                                     "BLOCK"_a = block, "num_warps"_a = 4);
  }
  return inPlace && !a.isContiguous() ? a.copyFrom(sum) : sum;
}
