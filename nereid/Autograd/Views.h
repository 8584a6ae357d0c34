//===- Views.h - Views of variables ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The views of Tensor.h, recorded: they share memory with their input and cost
// nothing. Going back, the gradient is viewed the other way round; that of a
// slice is written into zeros, that of an expanded tensor is summed. Errors are
// those of Tensor.h. Each is a member of Variable, too.
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
Variable select(const Variable &x, int axis, int64_t index);
/// Dimensions of size 1, and such as are missing in front, repeat.
Variable expand(const Variable &x, Shape shape);

} // namespace nereid::autograd

#endif // NEREID_AUTOGRAD_VIEWS_H
