//===- Doubles.h - Products and linear layers of fp64 -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_DOUBLES_H
#define NEREID_KERNELS_LINEAR_DOUBLES_H

#include "kernels/linear/Product.h"

namespace nereid::kernels {

/// The product alone, into `y`, which is not empty.
void runOfDoubles(const Product &product, const Tensor &y);

/// What follows a product, as an expression.
struct Epilogue {
  double scale = 1;
  Variable bias = {}; ///< or undefined
  Activation activation = Activation::None;
  Variable residual = {};
};
Variable finishedOfDoubles(const Variable &product, const Epilogue &epilogue);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_DOUBLES_H
