//===- ControlSize.h - How much control flow there is -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some of LLVM's passes take the square of the number of loops or of branches,
// or more: what is known of a value is looked for in every branch that compares
// it, and what a loop computes is described by what the loops before it have
// left. In a function with very many of them other passes run before, or
// instead.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CONTROLSIZE_H
#define NEREID_TARGET_CONTROLSIZE_H

#include <cstddef>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace nereid::target {

/// Maximum over the module's functions.
struct ControlSize {
  size_t loops = 0, blocks = 0;

  /// Layer norm backward has 8 loops and 15 blocks on a CPU.
  static constexpr size_t manyBlocks = 1024;
  bool hasManyBranches() const { return blocks > manyBlocks; }
};

/// LLVM's passes for a function with many branches, as opt's -passes takes
/// them, with those for its loops. Branches on one value become a `switch`
/// first. What has been computed or loaded before is looked for among what
/// dominates it: gvn looks at all uses of a condition at every branch on it,
/// and for what a load reads in 200 blocks before it. Instructions are combined
/// once, when little is left of them: of each, instcombine asks about all uses
/// of its operands.
std::string passesForManyBranches(const std::string &loopPasses);

ControlSize measureControl(const llvm::Module &module);

} // namespace nereid::target

#endif // NEREID_TARGET_CONTROLSIZE_H
