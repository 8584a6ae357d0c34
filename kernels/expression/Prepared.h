//===- Prepared.h - Launches of expressions like earlier ones ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context keeps the kernels of the expressions that it has launched by what
// their texts depend on (Recorded::addTo). Only the first launch of a key makes
// the text; others fill in their tensors, sizes and numbers, and allocate
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_PREPARED_H
#define NEREID_KERNELS_EXPRESSION_PREPARED_H

#include "kernels/expression/Text.h"
#include "nereid/Runtime/Kernel.h"

namespace nereid::kernels::expression {

struct PreparedKernel {
  KernelText text;
  Kernel kernel; ///< of the context that keeps this: uncounted
};

/// More are made again at each launch.
inline constexpr size_t mostPrepared = 8192;

/// That of the context that this thread works for, which has a compiler.
std::shared_ptr<const PreparedKernel> prepare(const Recorded &expression);

/// The arguments of `text` after those of its results: tensors, sizes, numbers.
void addInputs(const Recorded &expression, const KernelText &text,
               std::pmr::vector<LaunchArgument> &arguments);

/// Into `results`, which are not empty: see Recorded.
void launchPrepared(std::span<const NodePtr> roots, const Tensor &gradient,
                    const Tensor &strided, std::span<const Tensor> results);

} // namespace nereid::kernels::expression

#endif // NEREID_KERNELS_EXPRESSION_PREPARED_H
