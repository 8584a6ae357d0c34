//===- ConstantOperands.h - Constants of loops in memory -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop with an exponential in it needs more constants than 16 registers hold.
// LLVM keeps the same number in all lanes as one element, and broadcasts it
// again in every iteration, with an instruction of its own; without AVX-512 no
// instruction takes such an element as its operand. A whole vector in memory it
// does take: so constants that one instruction of a loop uses are loaded as
// vectors, which costs no instruction.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CPU_CONSTANTOPERANDS_H
#define NEREID_TARGET_CPU_CONSTANTOPERANDS_H

namespace llvm {
class Module;
} // namespace llvm

namespace nereid::cpu {

/// For processors with 16 vector registers. Right before code is generated: no
/// pass over LLVM IR sees that the loads are of constants.
void putConstantsInMemory(llvm::Module &module);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_CONSTANTOPERANDS_H
