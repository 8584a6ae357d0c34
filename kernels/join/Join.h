//===- Join.h - Tensors put together and taken apart ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      concat: one after the other along an axis; stack: along a new
//               one; split, chunk: the parts again; pad: `value` around x;
//               repeat: x as a tile, `times` in each dimension (PyTorch's
//               repeat, NumPy's tile); repeat along an axis: each element so
//               often in a row
// Shapes:       concat: equal but for the axis; stack: equal; any strides.
//               split: parts of `size`, the last one smaller, or of `sizes`,
//               which sum up to the axis'; chunk: at most `chunks` parts of one
//               size, the last one smaller; pad: {before, after} for each
//               dimension, outermost first
// Types:        any; those that are put together are of one type
// Gradients:    all operands
// Memory:       concat, stack, pad and repeat write the result once; parts are
//               views. The gradient of parts is written once, in one piece
// Determinism:  the same bits in each run
// Source:       none
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_JOIN_JOIN_H
#define NEREID_KERNELS_JOIN_JOIN_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

// `concat({x, y}, 1)`: a list of what is of one type gives that type; a mix
// gives an expression. Vectors and other spans are taken as well.
Tensor concat(std::span<const Tensor> values, int axis = 0);
Variable concat(std::span<const Variable> values, int axis = 0);
Expression concat(std::span<const Expression> values, int axis = 0);
template <Value T>
T concat(std::initializer_list<T> values, int axis = 0) {
  return concat(std::span<const T>(values.begin(), values.size()), axis);
}
inline Expression concat(std::initializer_list<Expression> values,
                         int axis = 0) {
  return concat(std::span(values.begin(), values.size()), axis);
}

/// `axis` of the result.
Tensor stack(std::span<const Tensor> values, int axis = 0);
Variable stack(std::span<const Variable> values, int axis = 0);
Expression stack(std::span<const Expression> values, int axis = 0);
template <Value T>
T stack(std::initializer_list<T> values, int axis = 0) {
  return stack(std::span<const T>(values.begin(), values.size()), axis);
}
inline Expression stack(std::initializer_list<Expression> values,
                        int axis = 0) {
  return stack(std::span(values.begin(), values.size()), axis);
}

// The names of PyTorch.
template <typename... Args>
auto cat(Args &&...args) -> decltype(concat(std::forward<Args>(args)...)) {
  return concat(std::forward<Args>(args)...);
}
template <Value T>
T cat(std::initializer_list<T> values, int axis = 0) {
  return concat(values, axis);
}
inline Expression cat(std::initializer_list<Expression> values, int axis = 0) {
  return concat(values, axis);
}

std::vector<Tensor> split(const Tensor &x, int64_t size, int axis = 0);
std::vector<Variable> split(const Variable &x, int64_t size, int axis = 0);
std::vector<Tensor> split(const Tensor &x, std::span<const int64_t> sizes,
                          int axis = 0);
std::vector<Variable> split(const Variable &x, std::span<const int64_t> sizes,
                            int axis = 0);
template <Value T>
auto split(const T &x, std::initializer_list<int64_t> sizes, int axis = 0) {
  std::span<const int64_t> all(sizes.begin(), sizes.size());
  if constexpr (std::same_as<T, Tensor>) {
    return split(x, all, axis);
  } else {
    return split(asVariable(x), all, axis);
  }
}
inline std::vector<Variable> split(const Expression &x, int64_t size,
                                   int axis = 0) {
  return split(x.variable(), size, axis);
}
std::vector<Tensor> chunk(const Tensor &x, int64_t chunks, int axis = 0);
std::vector<Variable> chunk(const Variable &x, int64_t chunks, int axis = 0);
inline std::vector<Variable> chunk(const Expression &x, int64_t chunks,
                                   int axis = 0) {
  return chunk(x.variable(), chunks, axis);
}

/// Elements in front of and after those of a dimension.
struct Padding {
  int64_t before = 0, after = 0;
};
Tensor pad(const Tensor &x, std::span<const Padding> paddings,
           double value = 0);
Variable pad(const Variable &x, std::span<const Padding> paddings,
             double value = 0);
template <Value T>
T pad(const T &x, std::initializer_list<Padding> paddings, double value = 0) {
  std::span<const Padding> all(paddings.begin(), paddings.size());
  if constexpr (std::same_as<T, Expression>) {
    return pad(x.variable(), all, value);
  } else {
    return pad(x, all, value);
  }
}

/// `times` may have more entries than x dimensions: these are in front.
Tensor repeat(const Tensor &x, const Shape &times);
Variable repeat(const Variable &x, const Shape &times);
inline Expression repeat(const Expression &x, const Shape &times) {
  return repeat(x.variable(), times);
}
/// Each element `times` in a row along `axis` (PyTorch's repeat_interleave).
Tensor repeat(const Tensor &x, int64_t times, int axis);
Variable repeat(const Variable &x, int64_t times, int axis);
inline Expression repeat(const Expression &x, int64_t times, int axis) {
  return repeat(x.variable(), times, axis);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_JOIN_JOIN_H
