//===- X86Machine.cpp - LLVM's x86-64 back end ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/X86Machine.h"

#include "llvm-c/Target.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetOptions.h"

#include <mutex>

using namespace nereid;
using namespace nereid::cpu;

static void initializeX86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> cpu::createMachine(const CpuTarget &target,
                                                        std::string &errors) {
  initializeX86();
  llvm::Triple triple(tripleName);
  std::string error;
  const llvm::Target *x86 = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!x86) {
    errors += error + "\n";
    return nullptr;
  }
  llvm::TargetOptions options;
  options.MCOptions.OutputAsmVariant = 1; // Intel syntax
  return std::unique_ptr<llvm::TargetMachine>(x86->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}
