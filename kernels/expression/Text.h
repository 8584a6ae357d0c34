//===- Text.h - The kernel of an expression ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_TEXT_H
#define NEREID_KERNELS_EXPRESSION_TEXT_H

#include "kernels/expression/Recorded.h"

namespace nereid::kernels::expression {

/// The text depends on the operations, types, and on what Loops says of
/// strides: no size, stride or number is part of it. Parameters are the
/// results, the tensors, the sizes and the numbers.
struct KernelText {
  std::string text;
  std::vector<SizeSource> sizes;
  std::vector<NumberSource> numbers;
};
KernelText writeKernel(const Recorded &expression);

/// A kernel that is compiled ahead of time: its text depends on the operations
/// alone. Tensors are row-major, of one shape and any float type, and are not
/// looked at; a tensor that two leaves have is loaded twice; numbers are
/// arguments, but for those of gelu and its like. Its only size is the number
/// of elements, in front of the numbers.
struct FormText {
  std::string text;
  std::vector<Tensor> tensors;
  std::vector<LaunchArgument> numbers;
};
FormText writeForm(std::span<const NodePtr> roots, const Tensor &gradient);

/// What two values are compared in.
DType comparedIn(const Node &a, const Node &b);

/// Throws InvalidArgument where a dropout is broadcast.
void checkDropout(std::span<const Node *const> nodes, const Shape &shape);

} // namespace nereid::kernels::expression

#endif // NEREID_KERNELS_EXPRESSION_TEXT_H
