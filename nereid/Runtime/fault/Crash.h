//===- Crash.h - What a kernel that a signal stopped is reported as --*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_FAULT_CRASH_H
#define NEREID_RUNTIME_FAULT_CRASH_H

#include "nereid/Runtime/fault/FaultGuard.h"
#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"

namespace nereid {

/// KernelFault: what happened, in which kernel, in which line if that is
/// known, and the array nearest to the address.
Failure crashFailure(const LaunchBinding &binding,
                     const Specialization &specialization,
                     const KernelSignal &signal);

/// The kernel and the launch's arrays, for a handler that can only print.
std::string crashScene(const LaunchBinding &binding);

} // namespace nereid

#endif // NEREID_RUNTIME_FAULT_CRASH_H
