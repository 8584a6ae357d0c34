//===- CopyOnDevice.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/CopyOnDevice.h"

#include "kernels/copy/Copy.h"
#include "kernels/expression/Node.h"
#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

/// Does a kernel convert as Tensor.h says?
static bool convertsAlike(DType from, DType to) {
  if (!isFloat(from)) {
    bool isShort = from == i1 || bitWidth(from) <= 16;
    return !isFloat(to) || (isShort && isKernelFloat(to)) ||
           (bitWidth(from) <= 32 && to == f32);
  }
  return isKernelFloat(from) && (isKernelFloat(to) || to == i1);
}

static DType bitsOf(DType dtype) {
  constexpr DType types[] = {u8, u16, u32, u64};
  size_t bytes = byteSize(dtype);
  return types[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

bool kernels::copyOnDevice(const Tensor &to, const Tensor &from) {
  for (int i = 0; i < to.rank(); ++i) {
    if (to.stride(i) == 0 && to.size(i) > 1) {
      return false; // elements that several are written to
    }
  }
  if (!hasCompiler()) {
    return hasKernels("copy") && copyByKernel(to, from);
  }
  DType type = to.dtype();
  if (from.dtype() == type) {
    launchInto(to.bitcast(bitsOf(type)),
               Expression(from.bitcast(bitsOf(type))).node);
    return true;
  }
  if (!convertsAlike(from.dtype(), type)) {
    return false;
  }
  Expression source = from;
  launchInto(
      to, (isFloat(from.dtype()) && isFloat(type) ? source : cast(source, type))
              .node);
  return true;
}
