//===- Views.cpp ------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Views.h"

#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/Context.h"

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

Variable autograd::select(const Variable &x, int axis, int64_t index) {
  return record("select", {x}, x.value().select(axis, index),
                [=, from = x.shape()](const Tensor &dy, Needs) {
                  Tensor dx = zeros(from, dy.dtype(), dy.device());
                  dx.select(axis, index).copyFrom(dy);
                  return Gradients{dx};
                });
}

/// Each dimension that `shape` has not, or has as 1, is summed over.
static Tensor sumOnHost(const Tensor &x, const Shape &shape) {
  std::vector<double> values = x.toFloat64();
  Shape padded(size_t(x.rank()) - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  std::vector<double> sums(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    size_t rest = i, at = 0, stride = 1;
    for (int axis = x.rank(); axis-- > 0;) {
      auto size = size_t(x.size(axis)), own = size_t(padded[size_t(axis)]);
      at += own == 1 ? 0 : rest % size * stride;
      stride *= own;
      rest /= size;
    }
    sums[at] += values[i];
  }
  Tensor result = empty(shape, x.dtype(), x.device());
  return result.copyFrom(Tensor::fromVector(sums, shape).to(x.device()));
}

static Tensor sumTo(const Tensor &x, const Shape &shape) {
  auto function = deviceFunctions().sumTo;
  Tensor sum = function ? function(x, shape) : Tensor();
  return sum.defined() ? sum : sumOnHost(x, shape);
}

Variable autograd::expand(const Variable &x, Shape shape) {
  return record("expand", {x}, x.value().expand(std::move(shape)),
                [from = x.shape()](const Tensor &dy, Needs) {
                  return Gradients{dy.shape() == from ? dy : sumTo(dy, from)};
                });
}

Variable Variable::reshape(Shape shape) const {
  return autograd::reshape(*this, std::move(shape));
}
Variable Variable::view(Shape shape) const {
  return autograd::record(
      "view", {*this}, value().view(std::move(shape)),
      [from = this->shape()](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{dy.reshape(from)};
      });
}
Variable Variable::transpose(int a, int b) const {
  return autograd::transpose(*this, a, b);
}
Variable Variable::permute(const std::vector<int> &order) const {
  return autograd::permute(*this, order);
}
Variable Variable::slice(int axis, int64_t start, int64_t stop,
                         int64_t step) const {
  return autograd::slice(*this, axis, start, stop, step);
}
Variable Variable::select(int axis, int64_t index) const {
  return autograd::select(*this, axis, index);
}
Variable Variable::expand(Shape shape) const {
  return autograd::expand(*this, std::move(shape));
}
Variable Variable::unsqueeze(int axis) const {
  return autograd::record("unsqueeze", {*this}, value().unsqueeze(axis),
                          [from = shape()](const Tensor &dy, autograd::Needs) {
                            return autograd::Gradients{dy.reshape(from)};
                          });
}
Variable Variable::squeeze(int axis) const {
  return autograd::record("squeeze", {*this}, value().squeeze(axis),
                          [from = shape()](const Tensor &dy, autograd::Needs) {
                            return autograd::Gradients{dy.reshape(from)};
                          });
}
