//===- LlvmSwitches.h - Switches of LLVM's command line ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_LLVMSWITCHES_H
#define NEREID_TARGET_LLVMSWITCHES_H

#include "llvm/ADT/StringRef.h"

namespace nereid::target {

/// Sets what LLVM offers on a command line only. It holds for the process, so
/// this is called once a switch, before code is generated. Switches that this
/// LLVM does not have are passed over.
void setSwitch(llvm::StringRef name, llvm::StringRef value);

} // namespace nereid::target

#endif // NEREID_TARGET_LLVMSWITCHES_H
