//===- EmitPtx.cpp - LLVM dialect to PTX ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/Passes.h"
#include "nereid/Support/LargeFunctions.h"
#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/ControlSize.h"
#include "nereid/Target/LlvmSwitches.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"
#include "nereid/Target/NVPTX/Occupancy.h"
#include "nereid/Target/NVPTX/ProductLoops.h"
#include "nereid/Target/NVPTX/RecomputeInvariants.h"
#include "nereid/Target/NVPTX/ReserveRegisters.h"
#include "nereid/Target/NVPTX/ScopeLabels.h"
#include "nereid/Target/SourceLines.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm-c/Target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <mutex>

using namespace nereid;
using namespace nereid::nvptx;

/// Straight-line code over scalars: what pays is common subexpressions and
/// instruction combining. LLVM's -O2 takes much longer for the same registers
/// after ptxas (docs/decisions/Products.md).
static std::string defaultPipeline(const llvm::Module &module) {
  if (nereid::target::measureControl(module).hasManyBranches()) {
    return nereid::target::passesForManyBranches("reassociate,loop-mssa(licm)");
  }
  return "function(sroa,early-cse<memssa>,"
         "instcombine<no-verify-fixpoint>,simplifycfg,reassociate,"
         "loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg,"
         "adce)";
}

static const char *tripleName = "nvptx64-nvidia-cuda";

static void initializeNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // An address is `base + index * size` in one mad.wide: ptxas then keeps
    // what all lanes share in uniform registers (docs/decisions/Tiles.md).
    nereid::target::setSwitch("nvptx-mad-wide-opt", "true");
  });
}

namespace {
/// What the assembly in a module says of itself.
struct AssemblyFacts {
  unsigned ptxVersion = 0; ///< the least, 84 for 8.4
  bool hasWarpgroupProducts = false;
};
} // namespace

static AssemblyFacts factsOf(mlir::ModuleOp module) {
  AssemblyFacts facts;
  module.walk([&](mlir::LLVM::InlineAsmOp op) {
    if (auto version =
            op->getAttrOfType<mlir::IntegerAttr>(nv::ptxVersionAttr)) {
      facts.ptxVersion = std::max(facts.ptxVersion, unsigned(version.getInt()));
    }
    facts.hasWarpgroupProducts |= op->hasAttr(nv::warpgroupProductAttr);
  });
  return facts;
}

/// LLVM 22 takes true for 1 where a signed conversion to bfloat has it as -1
/// (sm_90, where that is one instruction). instcombine makes such conversions
/// of `tl.where(mask, -1, 0).to(tl.bfloat16)`.
static void selectSignedBooleans(llvm::Module &module) {
  for (llvm::Function &function : module) {
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *cast = llvm::dyn_cast<llvm::SIToFPInst>(&instruction);
      if (!cast || !cast->getSrcTy()->isIntOrIntVectorTy(1) ||
          !cast->getDestTy()->getScalarType()->isBFloatTy()) {
        continue;
      }
      llvm::Type *type = cast->getDestTy();
      llvm::IRBuilder<> builder(cast);
      cast->replaceAllUsesWith(builder.CreateSelect(
          cast->getOperand(0), llvm::ConstantFP::get(type, -1.0),
          llvm::ConstantFP::get(type, 0.0)));
      cast->eraseFromParent();
    }
  }
}

namespace {
/// Leaves straight-line strength reduction out of kernels with products of
/// several warps: it takes much of the compiler's time, nearly all of it in
/// ScalarEvolution::canReuseInstruction, and changes hardly an instruction.
/// Kernels without such products keep it: it saves registers of products of odd
/// sizes (docs/TargetNVPTX.md). And of a kernel with very many loops everything
/// that describes loops by the loops before them; of one with very many
/// branches the sinking of instructions, which looks at all blocks after each
/// (ptxas does it again).
class PassGate : public llvm::OptPassGate {
public:
  bool hasProducts = false, hasManyLoops = false, hasManyBranches = false;

  bool isEnabled() const override { return true; }
  /// LLVM names passes over loops by their titles.
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    if (pass == "slsr") {
      return !hasProducts && !hasManyLoops;
    }
    if (pass == "machine-sink") {
      return !hasManyBranches;
    }
    return !hasManyLoops ||
           (pass != "nary-reassociate" && pass != "Loop Strength Reduction" &&
            pass != "Canonicalize Freeze Instructions in Loops");
  }
};
} // namespace

static std::unique_ptr<llvm::TargetMachine>
createMachine(const NvptxTarget &target, const EmitOptions &emit,
              std::string &errors) {
  initializeNvptx();
  llvm::Triple triple(tripleName);
  std::string error;
  const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!nvptx) {
    errors += error + "\n";
    return nullptr;
  }
  llvm::TargetOptions options;
  // Only what carries `contract` is contracted.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(nvptx->createTargetMachine(
      triple, target.name, "+ptx" + target.ptxVersion, options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Of a thread, at most.
static unsigned registersOf(const llvm::Function &function,
                            const NvptxTarget &target,
                            const EmitOptions &options) {
  unsigned threads = target.info.lanes; // where the kernel does not say
  function.getFnAttribute("nvvm.reqntid")
      .getValueAsString()
      .getAsInteger(/*Radix=*/10, threads);
  unsigned most = std::min(target.info.threadRegisters,
                           mostRegisters(threads / target.info.lanes));
  return options.maxRegisters ? std::min(most, options.maxRegisters) : most;
}

static Expected<std::string> emit(mlir::ModuleOp module,
                                  const NvptxTarget &target,
                                  const EmitOptions &options,
                                  nereid::target::CodeKind kind,
                                  StageTimes *times) {
  mlir::DialectRegistry registry;
  registerTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  nv::printAssembly(module);
  AssemblyFacts facts = factsOf(module);
  nereid::target::addSourceLines(module, nereid::target::LinesIn::Assembly);
  nereid::target::CodeEmission emission;
  emission.name = target.name;
  emission.triple = tripleName;
  emission.pipeline = defaultPipeline;
  emission.kind = kind;
  NvptxTarget versioned = target;
  if (std::stoul(target.ptxVersion) < facts.ptxVersion) {
    versioned.ptxVersion = std::to_string(facts.ptxVersion);
  }
  emission.createMachine = [&](std::string &errors) {
    return createMachine(versioned, options, errors);
  };
  emission.prepare = [&](llvm::Module &llvmModule) {
    for (llvm::Function &function : llvmModule) {
      function.setDoesNotThrow();
      if (!function.isDeclaration() && options.maxRegisters) {
        function.addFnAttr("nvvm.maxnreg",
                           std::to_string(options.maxRegisters));
      }
      if (options.minRegisters &&
          function.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
        reserveRegisters(function, options.minRegisters);
      }
    }
  };
  PassGate gate;
  gate.hasProducts = facts.hasWarpgroupProducts;
  emission.gate = &gate;
  emission.finish = [&](llvm::Module &llvmModule) {
    selectSignedBooleans(llvmModule);
    if (options.recomputesInvariants) {
      for (llvm::Function &function : llvmModule) {
        recomputeInvariants(function, registersOf(function, target, options));
      }
    }
    if (gate.hasProducts) {
      llvm::for_each(llvmModule, forbidUnrollingProducts);
    }
    auto size = nereid::target::measureControl(llvmModule);
    gate.hasManyLoops = size.loops > manyLoops;
    gate.hasManyBranches = size.hasManyBranches();
  };
  return nereid::target::emitCode(module, emission, times);
}

Expected<std::string> nvptx::emitPtx(mlir::ModuleOp module,
                                     const NvptxTarget &target,
                                     const EmitOptions &options,
                                     StageTimes *times) {
  auto text =
      emit(module, target, options, nereid::target::CodeKind::Assembly, times);
  if (text.ok()) {
    *text = withoutScopeLabels(*text);
  }
  return text;
}

Expected<std::string> nvptx::emitLlvmText(mlir::ModuleOp module,
                                          const NvptxTarget &target,
                                          const EmitOptions &options,
                                          StageTimes *times) {
  return emit(module, target, options, nereid::target::CodeKind::LlvmText,
              times);
}
