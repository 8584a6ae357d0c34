//===- LargeFunctions.h - Which functions are large: many loops -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's loop rotation and scalar evolution are superlinear in loops: nothing
// for a kernel of usual size, most of a compilation for a thousand. So loops of
// large functions are rotated before LLVM sees them (Conversion/Lanes), and
// passes that describe loops by other loops are left out (Target/NVPTX). Both
// must mean the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_LARGEFUNCTIONS_H
#define NEREID_SUPPORT_LARGEFUNCTIONS_H

#include <cstddef>

namespace nereid {

/// A function with more loops than this counts as large. Up to here rotation
/// takes no longer than the other passes over the loops (docs/TargetCPU.md).
inline constexpr std::size_t manyLoops = 64;

} // namespace nereid

#endif // NEREID_SUPPORT_LARGEFUNCTIONS_H
