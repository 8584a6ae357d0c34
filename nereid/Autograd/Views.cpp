//===- Views.cpp ------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Views.h"

#include "nereid/Autograd/Record.h"

using namespace nereid;

Variable autograd::reshape(const Variable &x, Shape shape) {
  return record("reshape", {x}, x.value().reshape(std::move(shape)),
                [from = x.shape()](const Tensor &dy, Needs) {
                  return Gradients{dy.reshape(from)};
                });
}

Variable autograd::transpose(const Variable &x, int a, int b) {
  return record("transpose", {x}, x.value().transpose(a, b),
                [a, b](const Tensor &dy, Needs) {
                  return Gradients{dy.transpose(a, b)};
                });
}

Variable autograd::permute(const Variable &x, const std::vector<int> &order) {
  int rank = x.value().rank();
  Tensor y = x.value().permute(order);
  std::vector<int> back(order.size());
  for (int i = 0; i < rank; ++i) {
    int from = order[size_t(i)];
    back[size_t(from < 0 ? from + rank : from)] = i;
  }
  return record("permute", {x}, std::move(y),
                [back = std::move(back)](const Tensor &dy, Needs) {
                  return Gradients{dy.permute(back)};
                });
}

Variable autograd::slice(const Variable &x, int axis, int64_t start,
                         int64_t stop, int64_t step) {
  return record("slice", {x}, x.value().slice(axis, start, stop, step),
                [=, from = x.shape()](const Tensor &dy, Needs) {
                  Tensor dx = zeros(from, dy.dtype(), dy.device());
                  dx.slice(axis, start, stop, step).copyFrom(dy);
                  return Gradients{dx};
                });
}
