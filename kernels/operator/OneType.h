//===- OneType.h - Tensors of several types, without a compiler -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels compiled ahead of time have operands of one type. Where a call has
// several, as bf16 with a weight of fp32, all of it is done in fp32, which is
// exact, and the results are rounded to their types.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_ONETYPE_H
#define NEREID_KERNELS_OPERATOR_ONETYPE_H

#include "kernels/operator/OperatorKernel.h"

namespace nereid::kernels {

/// Is there no compiler, and a tensor of another type than the first? Undefined
/// ones have none.
inline bool mixesTypes(std::initializer_list<Tensor> tensors) {
  DType type = tensors.begin()->dtype();
  bool isMixed = false;
  for (const Tensor &t : tensors) {
    isMixed |= t.defined() && t.dtype() != type;
  }
  return isMixed && !hasCompiler();
}

/// In `type`, or undefined as it was.
inline Tensor inType(const Tensor &t, DType type = f32) {
  return t.defined() ? t.to(type) : t;
}

/// `t`, or where there is neither it nor a compiler, [n] of one value.
inline Tensor orFilled(const Tensor &t, int64_t n, double value, DType type,
                       Device device) {
  return t.defined() || hasCompiler() ? t : full({n}, value, type, device);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_ONETYPE_H
