//===- CrowdedLoops.h - More than a lane's registers ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's greedy register allocator tries to reassign each value that stands in
// another's way, which takes the square of a block's length where nothing fits:
// a product of 64 x 256 by one wave of 32 lanes has 512 sums a lane for 256
// registers. Most of these sums are in scratch memory whatever the allocator
// does. The basic one spills the cheapest values in one go
// (docs/amd/TargetAMDGPU.md, "Crowded loops").
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_CROWDEDLOOPS_H
#define NEREID_TARGET_AMDGPU_CROWDEDLOOPS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class Pass;
} // namespace llvm

namespace nereid::amdgpu {

/// Does a loop, or another block, take twice as many registers of 32 bits from
/// the blocks in front as a lane has?
bool hasCrowdedLoops(const llvm::Module &module, unsigned laneRegisters);

/// In place of the passes that LLVM allocates registers with: one for scalars,
/// one for values of whole waves, and one for vectors.
class BasicAllocation {
public:
  /// A new pass instead of LLVM's of this title, or null.
  llvm::Pass *replace(llvm::StringRef title);

private:
  unsigned allocators = 0; ///< seen
};

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_CROWDEDLOOPS_H
