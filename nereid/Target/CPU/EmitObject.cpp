//===- EmitObject.cpp - LLVM dialect to optimised machine code ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/ConstantOperands.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CPU/LongFunctions.h"
#include "nereid/Target/CPU/X86Machine.h"
#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/ControlSize.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <cstring>

using namespace nereid;
using namespace nereid::cpu;

/// The conversion emits loops over vectors that need no vectoriser, no inliner
/// and no interprocedural pass; LLVM's own -O2 spends most of its time on
/// those. docs/TargetCPU.md has the measurements for the list.
/// Functions with very many branches are treated otherwise (ControlSize.h).
static std::string defaultPipeline(const llvm::Module &module) {
  if (nereid::target::measureControl(module).hasManyBranches()) {
    return nereid::target::passesForManyBranches("loop-mssa(loop-rotate,licm)");
  }
  // What memory holds is known after early-cse: gvn, which would look for it
  // again block by block (memdep), would find next to nothing.
  return "function(sroa,early-cse<memssa>,"
         "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,"
         "licm),gvn<no-memdep>,instcombine<no-verify-fixpoint>,simplifycfg,"
         "adce)";
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
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty()) {
      function.addFnAttr("target-features", target.features);
    }
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
  emission.pipeline = [&](const llvm::Module &llvmModule) {
    return options.pipeline.empty() ? defaultPipeline(llvmModule)
                                    : options.pipeline;
  };
  emission.kind = kind;
  emission.createMachine = [&](std::string &errors) {
    return createMachine(target, errors);
  };
  emission.prepare = [&](llvm::Module &llvmModule) {
    setFunctionAttributes(llvmModule, target);
  };
  LongFunctionGate gate;
  emission.gate = &gate;
  if (kind != nereid::target::CodeKind::LlvmText) {
    emission.latePipeline = [&](const llvm::Module &llvmModule) {
      return gate.measure(llvmModule);
    };
    emission.finish = [&](llvm::Module &llvmModule) {
      gate.cut(llvmModule);
      if (target.vectorRegisters <= 16) {
        putConstantsInMemory(llvmModule);
      }
    };
  }
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
