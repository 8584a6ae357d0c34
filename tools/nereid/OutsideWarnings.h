//===- OutsideWarnings.h - Before a launch leaves its arrays ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_OUTSIDEWARNINGS_H
#define NEREID_TOOLS_NEREID_OUTSIDEWARNINGS_H

#include "nereid/Runtime/Kernel.h"

namespace nereid {

/// Accesses of the launch that leave their arrays for certain. `memory`: what
/// arrays may be parts of; an access may go there, too. Nothing where the
/// kernel does not compile: the launch says so.
std::vector<Diagnostic>
outsideWarnings(const Kernel &kernel, const Grid &grid,
                std::span<const LaunchArgument> arguments,
                const std::vector<Tensor> &memory = {},
                Context &context = Context::shared());

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_OUTSIDEWARNINGS_H
