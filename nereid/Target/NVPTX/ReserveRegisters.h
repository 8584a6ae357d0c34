//===- ReserveRegisters.h - A floor under a kernel's registers --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX bounds the registers of a thread from above (.maxnreg) and the programs
// of a multiprocessor from below (.minnctapersm); the option `minnreg` bounds
// the programs from above, through their registers. A kernel that streams
// tensors from memory keeps it busiest with about 48 KiB of loads in flight a
// multiprocessor; more of them disturb the order in which memory is read, which
// costs a vector add time (docs/decisions/Tiles.md).
//
// The alternative that lost: shared memory that nothing uses. It takes the
// multiprocessor another split between shared memory and cache, which each
// launch pays for.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_RESERVEREGISTERS_H
#define NEREID_TARGET_NVPTX_RESERVEREGISTERS_H

namespace llvm {
class Function;
} // namespace llvm

namespace nereid::nvptx {

/// The assembler gives a thread of `kernel` `count` registers (1 to 255), where
/// it needs fewer than that; as many as a block can have, where that is less.
/// Costs a compare and a branch a thread.
void reserveRegisters(llvm::Function &kernel, unsigned count);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_RESERVEREGISTERS_H
