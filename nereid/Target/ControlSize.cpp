//===- ControlSize.cpp - How much control flow there is ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/ControlSize.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/Module.h"

#include <algorithm>

nereid::target::ControlSize
nereid::target::measureControl(const llvm::Module &module) {
  ControlSize size;
  for (const llvm::Function &function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    llvm::SmallVector<
        std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>>
        backward;
    llvm::FindFunctionBackedges(function, backward);
    llvm::SmallPtrSet<const llvm::BasicBlock *, 32> headers;
    for (auto [from, header] : backward) {
      headers.insert(header);
    }
    size.loops = std::max<size_t>(size.loops, headers.size());
    size.blocks = std::max<size_t>(size.blocks, function.size());
  }
  return size;
}

std::string
nereid::target::passesForManyBranches(const std::string &loopPasses) {
  return "function(sroa,early-cse<memssa>,simplifycfg," + loopPasses +
         ",early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
         "adce)";
}
