//===- EmitObject.cpp - LLVM dialect to optimised machine code ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CodeEmission.h"

#include "llvm-c/Target.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <cstring>
#include <mutex>

using namespace nereid;
using namespace nereid::cpu;

/// The conversion emits loops over vectors that need no vectoriser, no inliner
/// and no interprocedural pass; LLVM's own -O2 spends most of its time on
/// those. docs/TargetCPU.md has the measurements behind the list.
static constexpr const char *defaultPipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(loop-rotate,licm),gvn,"
    "instcombine<no-verify-fixpoint>,simplifycfg,adce)";

static void initializeX86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

static const char *tripleName = "x86_64-unknown-linux-gnu";

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CpuTarget &target, std::string &errors) {
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
      triple, target.name, /*Features=*/"", options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

/// Facts that hold for every function of a kernel. Kernels never unwind: a
/// service that abandons a launch leaves by longjmp, so no unwind tables.
static void setFunctionAttributes(llvm::Module &module,
                                  const CpuTarget &target) {
  for (llvm::Function &function : module) {
    function.setDoesNotThrow();
    if (function.isDeclaration()) {
      continue;
    }
    function.addFnAttr("target-cpu", target.name);
    function.addFnAttr("tune-cpu", target.tuneCpu);
    function.addFnAttr("prefer-vector-width",
                       std::to_string(target.vectorBytes * 8));
    function.addFnAttr("no-trapping-math", "true");
  }
}

static Expected<std::string>
emit(mlir::ModuleOp module, const CpuTarget &target, const EmitOptions &options,
     nereid::target::CodeKind kind, StageTimes *times) {
  nereid::target::CodeEmission emission;
  emission.name = target.name;
  emission.triple = tripleName;
  emission.pipeline =
      options.pipeline.empty() ? defaultPipeline : options.pipeline;
  emission.kind = kind;
  emission.createMachine = [&](std::string &errors) {
    return createMachine(target, errors);
  };
  emission.prepare = [&](llvm::Module &llvmModule) {
    setFunctionAttributes(llvmModule, target);
  };
  return nereid::target::emitCode(module, emission, times);
}

Expected<std::vector<std::byte>> cpu::emitObject(mlir::ModuleOp module,
                                                 const CpuTarget &target,
                                                 const EmitOptions &options,
                                                 StageTimes *times) {
  auto bytes =
      emit(module, target, options, nereid::target::CodeKind::Object, times);
  if (!bytes.ok()) {
    return bytes.failure();
  }
  std::vector<std::byte> object(bytes->size());
  std::memcpy(object.data(), bytes->data(), bytes->size());
  return object;
}

Expected<std::string> cpu::emitLlvmText(mlir::ModuleOp module,
                                        const CpuTarget &target,
                                        const EmitOptions &options,
                                        StageTimes *times) {
  return emit(module, target, options, nereid::target::CodeKind::LlvmText,
              times);
}

Expected<std::string> cpu::emitAssembly(mlir::ModuleOp module,
                                        const CpuTarget &target,
                                        const EmitOptions &options,
                                        StageTimes *times) {
  return emit(module, target, options, nereid::target::CodeKind::Assembly,
              times);
}
