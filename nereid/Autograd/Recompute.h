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
/// inputs are kept: backward calls the function again, and differentiates that.
/// So everything that requires a gradient is one of `inputs` (what the function
/// captures gets none), and a second call gives the same values. Inputs may be
/// undefined.
std::vector<Variable> recomputed(Text name, std::span<const Variable> inputs,
                                 const Function &function);

} // namespace nereid::autograd

#endif // NEREID_AUTOGRAD_RECOMPUTE_H
