//===- Text.h - The kernel of an expression ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_TEXT_H
#define NEREID_KERNELS_EXPRESSION_TEXT_H

#include "kernels/expression/Loops.h"
#include "kernels/expression/Node.h"
#include "nereid/Runtime/Argument.h"

namespace nereid::kernels::expression {

/// The text depends on the operations, types, and on what Loops says of
/// strides: no size, stride or number is part of it.
struct KernelText {
  std::string text;
  Loops loops;
  std::vector<Tensor> tensors; ///< what is loaded, each once
  std::vector<LaunchArgument> numbers, sizes;
};

/// `result`: where the one root goes, if that is not row-major.
KernelText writeKernel(std::span<const NodePtr> roots, const Tensor &gradient,
                       const Tensor &result = {});

/// A kernel that is compiled ahead of time: its text depends on the operations
/// alone. Tensors are row-major, of one shape and any float type, and are not
/// looked at; a tensor that two leaves have is loaded twice; numbers are
/// arguments, but for those of gelu and its like. Its only size is the number
/// of elements, in front of the numbers, and not in `sizes`.
KernelText writeForm(std::span<const NodePtr> roots, const Tensor &gradient);

/// What two values are compared in.
DType comparedIn(const Node &a, const Node &b);

/// Throws InvalidArgument where a dropout is broadcast.
void checkDropout(std::span<const Node *const> nodes, const Shape &shape);

} // namespace nereid::kernels::expression

#endif // NEREID_KERNELS_EXPRESSION_TEXT_H
