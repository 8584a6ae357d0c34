//===- Doubles.h - Operators of fp64 ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fused kernels compute in fp32. Of fp64, an operator is what it is made of:
// expressions, reductions, products and moves, which are differentiated as any
// other. So gradients of a model can be compared with differences.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_DOUBLES_H
#define NEREID_KERNELS_OPERATOR_DOUBLES_H

#include "nereid/Autograd/Variable.h"

namespace nereid::kernels {

inline bool isOfDoubles(const Tensor &x) {
  return x.defined() && x.dtype() == f64;
}
inline bool isOfDoubles(const Variable &x) {
  return x.defined() && x.dtype() == f64;
}

/// One that requires no gradient, or undefined as `t` is.
inline Variable constant(const Tensor &t) {
  return t.defined() ? Variable(t) : Variable();
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_DOUBLES_H
