//===- LlvmSwitches.cpp - Switches of LLVM's command line -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/LlvmSwitches.h"

#include "llvm/Support/CommandLine.h"

void nereid::target::setSwitch(llvm::StringRef name, llvm::StringRef value) {
  auto &options = llvm::cl::getRegisteredOptions();
  if (llvm::cl::Option *option = options.lookup(name)) {
    option->addOccurrence(/*pos=*/0, option->ArgStr, value);
  }
}
