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
// left. In a function with very many of them other passes run before.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CONTROLSIZE_H
#define NEREID_TARGET_CONTROLSIZE_H

#include <cstddef>

namespace llvm {
class Module;
} // namespace llvm

namespace nereid::target {

/// Of the function that has most of each.
struct ControlSize {
  size_t loops = 0, blocks = 0;

  /// Layer norm backward has 8 loops and 15 blocks on a CPU.
  bool hasManyBranches() const { return blocks > 1024; }
};

ControlSize measureControl(const llvm::Module &module);

} // namespace nereid::target

#endif // NEREID_TARGET_CONTROLSIZE_H
