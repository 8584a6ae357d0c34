//===- Views.h - Views of variables ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The views of Tensor.h, recorded: they share memory with their input and cost
// nothing. Going back, the gradient is viewed the other way round; only that of
// a slice is written, into zeros. Errors are those of Tensor.h.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_AUTOGRAD_VIEWS_H
#define NEREID_AUTOGRAD_VIEWS_H

#include "nereid/Autograd/Variable.h"

namespace nereid::autograd {

/// A view if possible, else a copy; one -1 is inferred.
Variable reshape(const Variable &x, Shape shape);
Variable transpose(const Variable &x, int a, int b);
Variable permute(const Variable &x, const std::vector<int> &order);
/// As Tensor::slice.
Variable slice(const Variable &x, int axis, int64_t start,
               int64_t stop = INT64_MAX, int64_t step = 1);

} // namespace nereid::autograd

#endif // NEREID_AUTOGRAD_VIEWS_H
