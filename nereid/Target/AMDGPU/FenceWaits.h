//===- FenceWaits.h - Waits that fences ask for -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fence, and an atomic access that orders others, asks for waits: what the
// wave has on its way must be done before the barrier, or the store after it.
// LLVM's memory legalizer puts these waits in, and the pass that counts takes
// those out for which nothing is on its way. It visits the blocks in order,
// until nothing changes, and takes a wait out at the first visit. So a wait in
// a loop, or after one, is lost when what it waits for comes by the way back,
// which is known at the second visit only: the next turn's barrier lets another
// wave read what is not stored yet.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_FENCEWAITS_H
#define NEREID_TARGET_AMDGPU_FENCEWAITS_H

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace llvm {
class Pass;
} // namespace llvm

namespace nereid::amdgpu {

/// What the memory legalizer asked for, and two passes: the first notes it
/// before LLVM counts, the second puts back what is missing on some way.
class FenceWaits {
public:
  FenceWaits();
  ~FenceWaits();

  /// A new pass to run after LLVM's pass of this title, or null. It refers to
  /// this object.
  llvm::Pass *follow(llvm::StringRef title);

  struct Notes;

private:
  std::unique_ptr<Notes> notes;
};

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_FENCEWAITS_H
