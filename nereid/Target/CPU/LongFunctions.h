//===- LongFunctions.h - Code generation that stays linear -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Habits of LLVM's code generator cost the square of a program's length, and
// buy nothing in a long one:
//   - it hoists every constant out of a loop, into registers that a long loop
//     does not have. Each hoisted constant is compared with all before it, and
//     is put back by the register allocator;
//   - it asks of each instruction of two addresses about every use of its
//     operands, a constant's in the whole block among them;
//   - where it finds a value computed before, it visits all uses of that;
//   - it describes the numbers of each loop by those of the loops before it,
//     to count in the cheapest way.
// So a module with a long function is generated without the first and the
// third, and with its long blocks cut, which gives each piece constants of its
// own; one with very many loops without the last.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CPU_LONGFUNCTIONS_H
#define NEREID_TARGET_CPU_LONGFUNCTIONS_H

#include "llvm/IR/OptBisect.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace nereid::cpu {

class LongFunctionGate : public llvm::OptPassGate {
public:
  /// Looks at a module whose code is generated next. Gives the passes that run
  /// before its long blocks are cut, since they would join the pieces.
  std::string measure(const llvm::Module &module);
  void cut(llvm::Module &module);

  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override;

private:
  bool isLong = false;
  bool hasManyLoops = false;
};

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_LONGFUNCTIONS_H
