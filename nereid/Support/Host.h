//===- Host.h - What this machine's processor is ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_HOST_H
#define NEREID_SUPPORT_HOST_H

#include <cstdint>
#include <string>

namespace nereid {

/// Raw feature words of CPUID and XCR0 as text, part of cache keys: two
/// machines with the same words run each other's code. Microseconds.
const std::string &hostFeatureWords();

/// May this process use AMX's tile registers? The first call asks the system
/// for it, for all threads: their state is 8 KiB that a process must want.
/// False where there are none, and where a thread's stack for signal handlers
/// is too small for that state.
bool mayUseTiles();

} // namespace nereid

#endif // NEREID_SUPPORT_HOST_H
