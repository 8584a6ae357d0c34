//===- EmitObject.cpp - LLVM dialect to optimised machine code ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CPU/FatalErrors.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm-c/Target.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <chrono>
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

namespace {

/// Collects stage times.
class StageClock {
public:
  explicit StageClock(StageTimes *times) : times(times), start(now()) {}
  /// Ends the stage that began with the last call.
  void done(const char *stage) {
    auto end = now();
    if (times) {
      times->emplace_back(
          stage,
          std::chrono::duration<double, std::milli>(end - start).count());
    }
    start = end;
  }

private:
  static std::chrono::steady_clock::time_point now() {
    return std::chrono::steady_clock::now();
  }
  StageTimes *times;
  std::chrono::steady_clock::time_point start;
};

enum class Output { Object, Assembly, LlvmText };

/// What one emission works on. On the heap, since a fatal error of LLVM leaves
/// it in an unknown state and it must then be leaked.
struct Emission {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> llvmModule;
  std::string errors; ///< LLVM's and MLIR's messages, one a line
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  llvm::legacy::PassManager codegenPasses; ///< writes to `stream`
};

} // namespace

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

static void createMachine(Emission &emission, const CpuTarget &target) {
  initializeX86();
  llvm::Triple triple(tripleName);
  std::string error;
  const llvm::Target *x86 = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!x86) {
    emission.errors += error + "\n";
    return;
  }
  llvm::TargetOptions options;
  options.MCOptions.OutputAsmVariant = 1; // Intel syntax
  emission.machine.reset(x86->createTargetMachine(
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

static void translate(Emission &emission, mlir::ModuleOp module,
                      const CpuTarget &target) {
  mlir::MLIRContext *context = module.getContext();
  mlir::registerBuiltinDialectTranslation(*context);
  mlir::registerLLVMDialectTranslation(*context);
  mlir::ScopedDiagnosticHandler handler(
      context, [&](mlir::Diagnostic &diagnostic) {
        emission.errors += diagnostic.str() + "\n";
        return mlir::success();
      });
  emission.llvmModule =
      mlir::translateModuleToLLVMIR(module, emission.context, "kernel");
  if (!emission.llvmModule) {
    emission.errors += "translation to LLVM IR failed\n";
    return;
  }
  emission.llvmModule->setDataLayout(emission.machine->createDataLayout());
  emission.llvmModule->setTargetTriple(llvm::Triple(tripleName));
  setFunctionAttributes(*emission.llvmModule, target);
}

static void optimize(Emission &emission, const EmitOptions &options) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(emission.machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  llvm::StringRef pipeline = options.pipeline;
  if (pipeline.empty()) {
    pipeline = defaultPipeline;
  }
  if (llvm::Error error = builder.parsePassPipeline(passes, pipeline)) {
    emission.errors += llvm::toString(std::move(error)) + "\n";
    return;
  }
  passes.run(*emission.llvmModule, modules);
}

static void generate(Emission &emission, Output output) {
  if (output == Output::LlvmText) {
    emission.llvmModule->print(emission.stream, /*AAW=*/nullptr);
    return;
  }
  auto type = output == Output::Object ? llvm::CodeGenFileType::ObjectFile
                                       : llvm::CodeGenFileType::AssemblyFile;
  if (emission.machine->addPassesToEmitFile(emission.codegenPasses,
                                            emission.stream, nullptr, type,
                                            /*DisableVerify=*/true)) {
    emission.errors += "the machine cannot emit this file type\n";
    return;
  }
  emission.codegenPasses.run(*emission.llvmModule);
}

static void handleDiagnostic(const llvm::DiagnosticInfo *info, void *errors) {
  if (info->getSeverity() != llvm::DS_Error) {
    return;
  }
  llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  stream << "\n";
}

/// The stages, each skipped after an error.
static void runStages(Emission &emission, mlir::ModuleOp module,
                      const CpuTarget &target, const EmitOptions &options,
                      Output output, StageClock &clock) {
  createMachine(emission, target);
  if (emission.errors.empty()) {
    translate(emission, module, target);
  }
  clock.done("translate");
  if (emission.errors.empty()) {
    optimize(emission, options);
  }
  clock.done("llvm-opt");
  if (emission.errors.empty()) {
    generate(emission, output);
  }
  clock.done("codegen");
}

/// Keeps what a fatal error left half done, for ever.
static void abandon(std::unique_ptr<Emission> emission) {
  static std::mutex mutex;
  static auto *abandoned = new std::vector<Emission *>;
  std::lock_guard lock(mutex);
  abandoned->push_back(emission.release());
}

static Expected<llvm::SmallVector<char, 0>>
emit(mlir::ModuleOp module, const CpuTarget &target, const EmitOptions &options,
     Output output, StageTimes *times) {
  auto emission = std::make_unique<Emission>();
  StageClock clock(times);
  emission->context.setDiagnosticHandlerCallBack(handleDiagnostic,
                                                 &emission->errors);
  std::string fatal;
  bool survived = runCatchingFatalErrors(
      [&] { runStages(*emission, module, target, options, output, clock); },
      fatal);
  if (!survived) {
    abandon(std::move(emission));
    return {ErrorCode::Internal,
            "internal error: LLVM cannot generate code for " + target.name +
                ": " + fatal};
  }
  if (!emission->errors.empty()) {
    return {ErrorCode::Internal, "internal error: generating code for " +
                                     target.name + ": " + emission->errors};
  }
  return std::move(emission->bytes);
}

void cpu::registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

Expected<std::vector<std::byte>> cpu::emitObject(mlir::ModuleOp module,
                                                 const CpuTarget &target,
                                                 const EmitOptions &options,
                                                 StageTimes *times) {
  auto bytes = emit(module, target, options, Output::Object, times);
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
  auto bytes = emit(module, target, options, Output::LlvmText, times);
  if (!bytes.ok()) {
    return bytes.failure();
  }
  return std::string(bytes->begin(), bytes->end());
}

Expected<std::string> cpu::emitAssembly(mlir::ModuleOp module,
                                        const CpuTarget &target,
                                        const EmitOptions &options,
                                        StageTimes *times) {
  auto bytes = emit(module, target, options, Output::Assembly, times);
  if (!bytes.ok()) {
    return bytes.failure();
  }
  return std::string(bytes->begin(), bytes->end());
}
