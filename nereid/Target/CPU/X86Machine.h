//===- X86Machine.h - LLVM's x86-64 back end --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CPU_X86MACHINE_H
#define NEREID_TARGET_CPU_X86MACHINE_H

#include "nereid/Target/CPU/CpuTarget.h"

#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace nereid::cpu {

inline constexpr const char *tripleName = "x86_64-unknown-linux-gnu";

/// Null with the reason added to `errors`.
std::unique_ptr<llvm::TargetMachine> createMachine(const CpuTarget &target,
                                                   std::string &errors);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_X86MACHINE_H
