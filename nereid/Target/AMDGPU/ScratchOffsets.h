//===- ScratchOffsets.h - Offsets that no field holds -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A spill of several registers is several accesses of scratch memory, each at
// its own offset. LLVM 22 asks whether the last one's offset fits the
// instruction's field as if all were as long as the first. A spill of six
// registers is 16 and 8 bytes, so the second access may lie past the field, and
// its encoding keeps the low bits: 4,100 is read as -4,092.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_SCRATCHOFFSETS_H
#define NEREID_TARGET_AMDGPU_SCRATCHOFFSETS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Pass;
} // namespace llvm

namespace nereid::amdgpu {

/// The pass of LLVM that gives the frame's objects their offsets, after which
/// this one belongs.
inline constexpr llvm::StringRef framePass =
    "Prologue/Epilogue Insertion & Frame Finalization";

/// A new pass that puts what is too much for the field into a scalar register.
/// Without a free one it is a fatal error of LLVM.
llvm::Pass *createScratchOffsets();

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_SCRATCHOFFSETS_H
