//===- ManyLoops.h - From where on a function has many loops ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM turns loops, and describes each by those before it, in a time that grows
// with their number: nothing for a kernel of usual size, most of a compilation
// for a thousand. So loops of functions with many of them are turned before
// LLVM sees them (Conversion/Lanes), and what describes loops by other loops is
// left out (Target/NVPTX). Both must mean the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_MANYLOOPS_H
#define NEREID_SUPPORT_MANYLOOPS_H

#include <cstddef>

namespace nereid {

/// Of a function, from which on it has many. Turning 64 takes some
/// milliseconds, as much as their other passes.
inline constexpr std::size_t manyLoops = 64;

} // namespace nereid

#endif // NEREID_SUPPORT_MANYLOOPS_H
