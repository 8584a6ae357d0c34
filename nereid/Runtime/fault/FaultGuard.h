//===- FaultGuard.h - A thread inside a kernel ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signal handler may do next to nothing, but it may leave generated code,
// which owns nothing, by siglongjmp: what is left to do is then done by
// ordinary code, on the thread that ran the kernel. The reference executor is
// C++ that does own things; there the handler prints, and the process ends.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_FAULT_FAULTGUARD_H
#define NEREID_RUNTIME_FAULT_FAULTGUARD_H

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <string>

namespace nereid {

/// A signal that came from inside a kernel.
struct KernelSignal {
  int signal = 0;
  bool hasAddress = false; ///< not for addresses that no process can have
  uint64_t address = 0;    ///< that was touched
  uint64_t instruction = 0;
  /// The return address of the function that was called, if the instruction is
  /// in one.
  uint64_t returnsTo = 0;
};

/// Is there a handler to be prepared for?
bool hasFaultHandler();

/// While one lives, signals of its thread are the kernel's.
class FaultGuard {
public:
  /// Also gives the thread a stack for its handlers, as long as it lives.
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard &) = delete;
  FaultGuard &operator=(const FaultGuard &) = delete;

  /// To be set by sigsetjmp(escape, 0); then the handler goes there, having
  /// filled in `signal`, and `landed` is to be called.
  sigjmp_buf escape;
  volatile bool canEscape = false;
  KernelSignal signal;
  /// Otherwise this is printed, after what happened.
  const char *scene = nullptr;

  /// The signal may come again.
  void landed() const;

  /// The guard of this thread; null outside of kernels. For services that a
  /// kernel calls, whose faults are not its own: set null meanwhile.
  static FaultGuard *current();
  static void setCurrent(FaultGuard *guard);

private:
  FaultGuard *outer;
};

/// "segmentation fault at address 0x10", "division by zero".
std::string describeSignal(const KernelSignal &signal);

} // namespace nereid

#endif // NEREID_RUNTIME_FAULT_FAULTGUARD_H
