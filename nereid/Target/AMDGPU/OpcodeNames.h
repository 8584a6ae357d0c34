//===- OpcodeNames.h - LLVM's opcodes by their names ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of the AMDGPU back end's opcodes stand in headers that LLVM does
// not install. Their names can be asked for.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_OPCODENAMES_H
#define NEREID_TARGET_AMDGPU_OPCODENAMES_H

#include "llvm/CodeGen/TargetInstrInfo.h"

#include <optional>

namespace nereid::amdgpu {

inline std::optional<unsigned>
findOpcode(const llvm::TargetInstrInfo &instructions, llvm::StringRef name) {
  for (unsigned i = 0; i < instructions.getNumOpcodes(); ++i) {
    if (instructions.getName(i) == name) {
      return i;
    }
  }
  return std::nullopt;
}

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_OPCODENAMES_H
