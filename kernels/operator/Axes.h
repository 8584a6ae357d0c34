//===- Axes.h - Dimensions that an operator goes over ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_AXES_H
#define NEREID_KERNELS_OPERATOR_AXES_H

#include "nereid/Runtime/Tensor.h"

#include <concepts>
#include <optional>
#include <span>
#include <vector>

namespace nereid::kernels {

/// All of them, one, or several: `sum(x)`, `sum(x, -1)`, `sum(x, {0, 2})`.
/// Negative ones count from the end; an empty list is all, as PyTorch's.
class Axes {
public:
  Axes() = default;
  Axes(std::nullopt_t) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Axes(T axis) : axes{static_cast<int64_t>(axis)} {}
  Axes(std::initializer_list<int> axes) : axes(axes.begin(), axes.end()) {}
  Axes(std::span<const int> axes) : axes(axes.begin(), axes.end()) {}
  Axes(const std::vector<int> &axes) : Axes(std::span(axes)) {}

  /// For each dimension of `x`, is it one of them? Throws InvalidArgument for
  /// one that `x` lacks or that is named twice.
  std::vector<bool> of(const char *op, const Tensor &x) const;
  /// The number of named axes: 0 stands for all.
  size_t count() const { return axes.size(); }

private:
  std::vector<int64_t> axes; ///< empty: all
};

/// `axis` from 0 on, one of `rank` dimensions. Throws InvalidArgument naming
/// `x`.
int checkedAxis(const char *op, const Tensor &x, int64_t axis, int rank);
inline int checkedAxis(const char *op, const Tensor &x, int64_t axis) {
  return checkedAxis(op, x, axis, x.rank());
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_AXES_H
