//===- OutOfMemory.h - What is said when there is no memory -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_FAULT_OUTOFMEMORY_H
#define NEREID_RUNTIME_FAULT_OUTOFMEMORY_H

namespace nereid {

/// The command's message, with what a person can do; a whole line.
inline constexpr char outOfMemoryText[] =
    "error: out of memory; use smaller arrays or blocks, or raise the limit "
    "(ulimit -v, or the container's)\n";

} // namespace nereid

#endif // NEREID_RUNTIME_FAULT_OUTOFMEMORY_H
