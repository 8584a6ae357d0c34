//===- ProductLoops.cpp ---------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/ProductLoops.h"

#include "nereid/Dialect/NV/Transforms/Passes.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

static bool isAssembly(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && call->isInlineAsm();
}

static bool isProduct(const Instruction &instruction) {
  return isAssembly(instruction) &&
         cast<CallInst>(instruction)
             .hasFnAttr(nereid::nv::warpgroupProductAttr);
}

/// The innermost loops in which the program computes with a product's result.
/// Further products and waits, to which it is tied, only hand it on, and so do
/// the phis that carry it.
static SmallPtrSet<Loop *, 4> loopsThatCompute(Instruction &product,
                                               const LoopInfo &loops) {
  SmallPtrSet<Loop *, 4> found;
  SmallPtrSet<const Instruction *, 16> seen = {&product};
  SmallVector<Instruction *> work = {&product};
  while (!work.empty()) {
    for (User *user : work.pop_back_val()->users()) {
      auto *instruction = cast<Instruction>(user);
      if (!isa<PHINode, ExtractValueInst>(instruction) &&
          !isAssembly(*instruction)) {
        found.insert(loops.getLoopFor(instruction->getParent()));
      } else if (seen.insert(instruction).second) {
        work.push_back(instruction);
      }
    }
  }
  return found;
}

void nereid::nvptx::forbidUnrollingProducts(Function &function) {
  if (function.isDeclaration()) {
    return;
  }
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Instruction &product : instructions(function)) {
    if (!isProduct(product)) {
      continue;
    }
    for (Loop *used : loopsThatCompute(product, loops)) {
      for (Loop *loop = used; loop; loop = loop->getParentLoop()) {
        if (loop->contains(&product)) {
          loop->setLoopAlreadyUnrolled();
        }
      }
    }
  }
}
