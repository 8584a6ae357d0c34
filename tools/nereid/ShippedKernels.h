//===- ShippedKernels.h - Kernels that nereid bench knows ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those of kernels/, whose texts travel inside the program, with sizes, the
// chain of separate kernels that they are compared with, and what they should
// compute.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_SHIPPEDKERNELS_H
#define NEREID_TOOLS_NEREID_SHIPPEDKERNELS_H

#include "BenchPoint.h"

namespace nereid {

std::vector<std::string> shippedNames();

/// Nothing for a name that is none of them. Providers are for `device`.
std::optional<BenchPlan> shippedPlan(const std::string &name, Device device);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_SHIPPEDKERNELS_H
