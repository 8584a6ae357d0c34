//===- FaultHandler.h - Signals inside kernels become errors ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_FAULTHANDLER_H
#define NEREID_RUNTIME_FAULTHANDLER_H

namespace nereid {

/// From now on, a kernel on `cpu` that touches memory that is not there (or
/// divides by zero, or meets an instruction that this machine lacks) throws
/// Error(KernelFault) from its launch, which names the kernel, the line of the
/// source, and the array nearest to the address. The process goes on; what the
/// kernel overwrote before is lost. On `interp` the same is printed, without
/// the line, and the process exits with status 1.
///
/// Takes SIGSEGV, SIGBUS, SIGFPE and SIGILL. Signals from elsewhere go to the
/// previous handlers; without one, a line says what to report, and the process
/// ends by the signal. Safe to call several times. The command nereid does so;
/// a program decides for itself.
void installFaultHandler();

} // namespace nereid

#endif // NEREID_RUNTIME_FAULTHANDLER_H
