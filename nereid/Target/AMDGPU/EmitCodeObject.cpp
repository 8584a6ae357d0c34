//===- EmitCodeObject.cpp - LLVM dialect to code objects ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/Transforms/Passes.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/AMDGPU/CrowdedLoops.h"
#include "nereid/Target/AMDGPU/FenceWaits.h"
#include "nereid/Target/AMDGPU/LinkObject.h"
#include "nereid/Target/AMDGPU/ProductWaits.h"
#include "nereid/Target/AMDGPU/ScratchOffsets.h"
#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/ControlSize.h"
#include "nereid/Target/SourceLines.h"

#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm-c/Target.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <memory>
#include <mutex>
#include <optional>

using namespace nereid;
using namespace nereid::amdgpu;

static const char *tripleName = "amdgcn-amd-amdhsa";

/// Straight-line code over scalars: common subexpressions and instruction
/// combining. Branches of predicates that are alike become one. The attributor
/// finds what the launch need not fill in: a kernel that does not say so asks
/// for all there is.
static std::string defaultPipeline(const llvm::Module &module) {
  const std::string last = ",amdgpu-attributor";
  if (nereid::target::measureControl(module).hasManyBranches()) {
    return nereid::target::passesForManyBranches(
               "reassociate,loop-mssa(licm)") +
           last;
  }
  return "function(sroa,early-cse<memssa>,"
         "instcombine<no-verify-fixpoint>,simplifycfg,reassociate,"
         "loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg,"
         "adce)" +
         last;
}

static void initializeAmdgpu() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const AmdgpuTarget &target, std::string &errors) {
  initializeAmdgpu();
  llvm::Triple triple(tripleName);
  std::string error;
  const llvm::Target *amdgpu =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!amdgpu) {
    errors += error + "\n";
    return nullptr;
  }
  llvm::TargetOptions options;
  // Only what carries `contract` is contracted.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(amdgpu->createTargetMachine(
      triple, target.name, /*Features=*/"", options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// The block's shared memory comes without a size, since other launches give
/// it. Here the code object says how much it is, and the loader sees that
/// a workgroup gets it.
static void setSharedBytes(llvm::Module &module, unsigned bytes) {
  llvm::GlobalVariable *shared = module.getNamedGlobal("nereid_shared");
  if (!shared) {
    return;
  }
  auto *type =
      llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), bytes);
  auto *sized = new llvm::GlobalVariable(
      module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
      llvm::PoisonValue::get(type), "", shared,
      llvm::GlobalValue::NotThreadLocal, shared->getAddressSpace());
  sized->setAlignment(shared->getAlign());
  sized->takeName(shared);
  shared->replaceAllUsesWith(sized);
  shared->eraseFromParent();
}

static Expected<std::string> emit(mlir::ModuleOp module,
                                  const AmdgpuTarget &target,
                                  const EmitOptions &options,
                                  nereid::target::CodeKind kind,
                                  StageTimes *times) {
  mlir::DialectRegistry registry;
  registerTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  amd::expandToLLVM(module);
  nereid::target::CodeEmission emission;
  emission.name = target.name;
  emission.triple = tripleName;
  emission.pipeline = defaultPipeline;
  emission.kind = kind;
  auto fences = std::make_shared<FenceWaits>();
  emission.follow = [fences](llvm::StringRef title) {
    return title == hazardPass  ? createProductWaits()
           : title == framePass ? createScratchOffsets()
                                : fences->follow(title);
  };
  auto crowded = std::make_shared<std::optional<BasicAllocation>>();
  emission.finish = [&, crowded](llvm::Module &llvmModule) {
    if (hasCrowdedLoops(llvmModule, target.info.threadRegisters)) {
      crowded->emplace();
    }
  };
  emission.replace = [crowded](llvm::StringRef title) {
    return *crowded ? (*crowded)->replace(title) : nullptr;
  };
  emission.createMachine = [&](std::string &errors) {
    return createMachine(target, errors);
  };
  emission.prepare = [&](llvm::Module &llvmModule) {
    // Version 5 of code objects: drivers from ROCm 5.7 on load it.
    constexpr unsigned codeObjectVersion = 500;
    llvmModule.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                             codeObjectVersion);
    setSharedBytes(llvmModule, options.sharedBytes);
    for (llvm::Function &function : llvmModule) {
      function.setDoesNotThrow();
      if (!function.isDeclaration() && options.wavesPerUnit) {
        function.addFnAttr("amdgpu-waves-per-eu",
                           std::to_string(options.wavesPerUnit));
      }
    }
  };
  return nereid::target::emitCode(module, emission, times);
}

Expected<std::string> amdgpu::emitCodeObject(mlir::ModuleOp module,
                                             const AmdgpuTarget &target,
                                             const EmitOptions &options,
                                             StageTimes *times) {
  nereid::target::addSourceLines(module, nereid::target::LinesIn::Object);
  auto object =
      emit(module, target, options, nereid::target::CodeKind::Object, times);
  return object.ok() ? linkObject(*object) : object;
}

Expected<std::string> amdgpu::emitAssembly(mlir::ModuleOp module,
                                           const AmdgpuTarget &target,
                                           const EmitOptions &options,
                                           StageTimes *times) {
  return emit(module, target, options, nereid::target::CodeKind::Assembly,
              times);
}

Expected<std::string> amdgpu::emitLlvmText(mlir::ModuleOp module,
                                           const AmdgpuTarget &target,
                                           const EmitOptions &options,
                                           StageTimes *times) {
  return emit(module, target, options, nereid::target::CodeKind::LlvmText,
              times);
}

void amdgpu::registerTranslation(mlir::DialectRegistry &registry) {
  mlir::registerROCDLDialectTranslation(registry);
}
