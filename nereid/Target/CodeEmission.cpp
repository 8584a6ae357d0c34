//===- CodeEmission.cpp - LLVM dialect to machine code or PTX -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/ControlSize.h"
#include "nereid/Target/FatalErrors.h"
#include "nereid/Target/LlvmSwitches.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <chrono>
#include <mutex>

using namespace nereid;
using namespace nereid::target;

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

/// What one emission works on. On the heap, since a fatal error of LLVM leaves
/// it in an unknown state and it must then be leaked.
struct Workspace {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> llvmModule;
  std::string errors; ///< LLVM's and MLIR's messages, one a line
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  llvm::legacy::PassManager codegenPasses; ///< writes to `stream`
};

/// The passes that a gate lets through, and those of ours after them.
class GatedPasses : public llvm::legacy::PassManagerBase {
public:
  GatedPasses(llvm::legacy::PassManagerBase &passes,
              const CodeEmission &emission)
      : passes(passes), emission(emission) {}

  void add(llvm::Pass *pass) override {
    llvm::StringRef title = pass->getPassName();
    if (emission.gate && !emission.gate->shouldRunPass(title, "")) {
      delete pass;
      return;
    }
    if (llvm::Pass *other =
            emission.replace ? emission.replace(title) : nullptr) {
      delete pass;
      pass = other;
    }
    passes.add(pass);
    llvm::Pass *next = emission.follow ? emission.follow(title) : nullptr;
    if (next) {
      passes.add(next);
    }
  }

private:
  llvm::legacy::PassManagerBase &passes;
  const CodeEmission &emission;
};

} // namespace

static std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                               llvm::LLVMContext &llvmContext,
                                               std::string &errors) {
  mlir::MLIRContext *context = module.getContext();
  mlir::registerBuiltinDialectTranslation(*context);
  mlir::registerLLVMDialectTranslation(*context);
  mlir::registerNVVMDialectTranslation(*context);
  mlir::ScopedDiagnosticHandler handler(context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          errors += diagnostic.str() + "\n";
                                          return mlir::success();
                                        });
  auto result = mlir::translateModuleToLLVMIR(module, llvmContext, "kernel");
  if (!result) {
    errors += "translation to LLVM IR failed\n";
  }
  return result;
}

static void makeModule(Workspace &work, const ModuleMaker &make,
                       const CodeEmission &emission) {
  work.llvmModule = make(work.context, work.errors);
  if (!work.llvmModule) {
    return;
  }
  work.llvmModule->setDataLayout(work.machine->createDataLayout());
  work.llvmModule->setTargetTriple(llvm::Triple(emission.triple));
  emission.prepare(*work.llvmModule);
}

static void optimize(Workspace &work, llvm::StringRef pipeline) {
  if (pipeline.empty()) {
    return;
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(work.machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, pipeline)) {
    work.errors += llvm::toString(std::move(error)) + "\n";
    return;
  }
  passes.run(*work.llvmModule, modules);
}

/// Of a function below this size codegenprepare begins again at the first block
/// wherever it changes a branch, which is the square of a chain's length.
static void limitRestarts() {
  static std::once_flag once;
  std::call_once(once, [] {
    setSwitch("cgpp-huge-func", std::to_string(ControlSize::manyBlocks));
  });
}

static void generate(Workspace &work, const CodeEmission &emission) {
  if (emission.kind == CodeKind::LlvmText) {
    work.llvmModule->print(work.stream, /*AAW=*/nullptr);
    return;
  }
  auto type = emission.kind == CodeKind::Object
                  ? llvm::CodeGenFileType::ObjectFile
                  : llvm::CodeGenFileType::AssemblyFile;
  GatedPasses passes(work.codegenPasses, emission);
  if (work.machine->addPassesToEmitFile(passes, work.stream, nullptr, type,
                                        /*DisableVerify=*/true)) {
    work.errors += "the machine cannot emit this file type\n";
    return;
  }
  work.codegenPasses.run(*work.llvmModule);
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
static void runStages(Workspace &work, const ModuleMaker &make,
                      const CodeEmission &emission, StageClock &clock) {
  limitRestarts();
  work.machine = emission.createMachine(work.errors);
  if (work.errors.empty()) {
    makeModule(work, make, emission);
  }
  clock.done("translate");
  if (work.errors.empty() && emission.pipeline) {
    optimize(work, emission.pipeline(*work.llvmModule));
  }
  if (work.errors.empty() && emission.latePipeline) {
    optimize(work, emission.latePipeline(*work.llvmModule));
  }
  if (work.errors.empty() && emission.finish) {
    emission.finish(*work.llvmModule);
  }
  clock.done("llvm-opt");
  if (work.errors.empty()) {
    generate(work, emission);
  }
  clock.done("codegen");
}

/// Keeps what a fatal error left half done, for ever.
static void abandon(std::unique_ptr<Workspace> work) {
  static std::mutex mutex;
  static auto *abandoned = new std::vector<Workspace *>;
  std::lock_guard lock(mutex);
  abandoned->push_back(work.release());
}

Expected<std::string> target::emitCode(mlir::ModuleOp module,
                                       const CodeEmission &emission,
                                       StageTimes *times) {
  return emitCode(
      [&](llvm::LLVMContext &context, std::string &errors) {
        return translate(module, context, errors);
      },
      emission, times);
}

Expected<std::string> target::emitCode(const ModuleMaker &make,
                                       const CodeEmission &emission,
                                       StageTimes *times) {
  auto work = std::make_unique<Workspace>();
  StageClock clock(times);
  if (emission.gate) {
    work->context.setOptPassGate(*emission.gate);
  }
  work->context.setDiagnosticHandlerCallBack(handleDiagnostic, &work->errors);
  std::string fatal;
  bool survived = runCatchingFatalErrors(
      [&] { runStages(*work, make, emission, clock); }, fatal);
  if (!survived) {
    abandon(std::move(work));
    return {ErrorCode::Internal,
            "internal error: LLVM cannot generate code for " + emission.name +
                ": " + fatal};
  }
  if (!work->errors.empty()) {
    return {ErrorCode::Internal, "internal error: generating code for " +
                                     emission.name + ": " + work->errors};
  }
  return std::string(work->bytes.begin(), work->bytes.end());
}

void target::registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}
