//===- OneLaunch.h - Small tensors joined in one launch ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_JOIN_ONELAUNCH_H
#define NEREID_KERNELS_JOIN_ONELAUNCH_H

#include "nereid/Runtime/Tensor.h"

#include <span>

namespace nereid::kernels {

/// Copies `parts` into `y`, one after the other along `axis`, where one launch
/// for all is sooner done than one for each: up to four row-major tensors of a
/// GPU, so small that launches take longer than the memory. Elsewhere false,
/// and nothing is written. The types are equal, and the parts' sizes are y's
/// but along `axis`, where they sum up to it.
bool joinInOneLaunch(const Tensor &y, std::span<const Tensor> parts, int axis);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_JOIN_ONELAUNCH_H
