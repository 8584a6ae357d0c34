//===- LongFunctions.cpp - Code generation that stays linear --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/LongFunctions.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace nereid::cpu;

/// Instructions of a function from which on it is long: far more than the
/// kernels of kernels/ have, and enough for the passes that are then skipped to
/// take a noticeable time (docs/TargetCPU.md).
static constexpr size_t longFunction = 2048;
/// Of a block: pieces are as long.
static constexpr size_t longBlock = 1024;

/// Blocks of a function with very many loops: each has one at least.
static constexpr size_t manyBlocks = 256;

static size_t countInstructions(const llvm::Function &function) {
  size_t count = 0;
  for (const llvm::BasicBlock &block : function) {
    count += block.size();
  }
  return count;
}

/// From the end on, so that every instruction moves once.
static void cut(llvm::BasicBlock &block) {
  size_t count = 0;
  for (auto it = block.end(); it != block.begin();) {
    --it;
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(*it)) {
      return;
    }
    if (++count == longBlock && it != block.begin()) {
      block.splitBasicBlock(it);
      it = std::prev(block.end());
      count = 0;
    }
  }
}

std::string LongFunctionGate::measure(const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    hasManyLoops |= function.size() > manyBlocks;
    isLong |= countInstructions(function) >= longFunction;
  }
  // It puts addresses beside their uses, among others.
  return isLong ? "require<profile-summary>,function(codegenprepare)" : "";
}

void LongFunctionGate::cut(llvm::Module &module) {
  if (!isLong) {
    return;
  }
  for (llvm::Function &function : module) {
    for (llvm::BasicBlock &block : llvm::make_early_inc_range(function)) {
      if (block.size() > 2 * longBlock) {
        ::cut(block);
      }
    }
  }
}

bool LongFunctionGate::shouldRunPass(llvm::StringRef pass,
                                     llvm::StringRef) const {
  // LLVM names passes over loops by their titles.
  if (hasManyLoops && (pass == "Loop Strength Reduction" ||
                       pass == "Canonicalize Freeze Instructions in Loops")) {
    return false;
  }
  // `measure` has the last one run already.
  return !isLong || (pass != "early-machinelicm" && pass != "machinelicm" &&
                     pass != "machine-cse" && pass != "codegenprepare");
}
