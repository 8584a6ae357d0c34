//===- Recompute.h - Operators that are computed twice ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   std::vector<Variable> y = autograd::recomputed("block", {x, w}, block);
//
// Chen, Xu, Zhang, Guestrin, "Training Deep Nets with Sublinear Memory Cost",
// arXiv 1604.06174.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_AUTOGRAD_RECOMPUTE_H
#define NEREID_AUTOGRAD_RECOMPUTE_H

#include "nereid/Autograd/Record.h"

namespace nereid::autograd {

using Function =
    std::function<std::vector<Variable>(std::span<const Variable>)>;

/// What `function` computes from `inputs`, with the same gradients. Only the
/// inputs are kept: backward calls the function again, on the thread of the
/// pass, and differentiates that. Variables that the function captures get
/// their gradients, too; results of operators among them keep their graphs.
/// Random seeds are the same ones in both calls (nereid/Runtime/Seeds.h), so
/// that dropout draws one mask. All else that the function does must be the
/// same each time. Inputs may be undefined.
///
/// Throws InvalidArgument where there is no function. `backward` does where an
/// input or a leaf that was captured has changed, where the function draws more
/// seeds than before, or captures results that it did not before.
std::vector<Variable> recomputed(Text name, std::span<const Variable> inputs,
                                 const Function &function);

} // namespace nereid::autograd

#endif // NEREID_AUTOGRAD_RECOMPUTE_H
