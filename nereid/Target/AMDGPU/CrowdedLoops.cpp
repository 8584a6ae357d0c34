//===- CrowdedLoops.cpp - More than a lane's registers --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/CrowdedLoops.h"

#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"

using namespace nereid;
using namespace nereid::amdgpu;

bool amdgpu::hasCrowdedLoops(const llvm::Module &module,
                             unsigned laneRegisters) {
  constexpr uint64_t registerBits = 32;
  for (const llvm::Function &function : module) {
    for (const llvm::BasicBlock &block : function) {
      uint64_t bits = 0;
      for (const llvm::PHINode &phi : block.phis()) {
        bits += module.getDataLayout().getTypeSizeInBits(phi.getType());
      }
      if (bits >= 2 * laneRegisters * registerBits) {
        return true;
      }
    }
  }
  return false;
}

static bool isVector(const llvm::TargetRegisterInfo &registers,
                     const llvm::MachineRegisterInfo &uses,
                     const llvm::Register value) {
  llvm::StringRef name =
      registers.getRegClassName(uses.getRegClassOrNull(value));
  return name.starts_with("V") || name.starts_with("A");
}

llvm::Pass *BasicAllocation::replace(llvm::StringRef title) {
  constexpr unsigned ofVectors = 3;
  if (title != "Greedy Register Allocator" || ++allocators != ofVectors) {
    return nullptr;
  }
  return llvm::createBasicRegisterAllocator(isVector);
}
