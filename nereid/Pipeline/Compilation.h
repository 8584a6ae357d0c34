//===- Compilation.h - One kernel from source to image ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages of a compilation are tables, one for what all targets share and
// one for each kind of target (Compilation.cpp, top). One loop runs them. After
// each stage its text goes to the caller that wants it, and an edited text
// takes its place if there is one.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_COMPILATION_H
#define NEREID_PIPELINE_COMPILATION_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"
#include "nereid/Pipeline/DecisionLog.h"
#include "nereid/Pipeline/Diagnostics.h"
#include "nereid/Pipeline/StageRecorder.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "mlir/Pass/PassManager.h"

#include <span>
#include <variant>

namespace nereid {

/// The reference executor.
struct InterpTarget {};
/// What a kernel can be compiled for.
using Target = std::variant<InterpTarget, cpu::CpuTarget, nvptx::NvptxTarget,
                            amdgpu::AmdgpuTarget>;

/// "interp", "sm_90a", "gfx942", "x86-64-v4", "cpu". InvalidArgument with the
/// names that there are.
Expected<Target> resolveTarget(const std::string &name);
/// What passes ask of it; null where it is no GPU.
const tilegpu::TargetInfo *gpuOf(const Target &target);
/// As images name it: never "cpu".
std::string nameOf(const Target &target);

class Compilation {
public:
  /// All three must outlive it. `context` serves no other compilation
  /// meanwhile.
  Compilation(mlir::MLIRContext &context, const CompileRequest &request,
              const Target &target);

  /// Once.
  Expected<CompileResult> run();
  /// Instead: KernelCompiler::findOutside.
  Expected<std::vector<Diagnostic>> findOutside(const LaunchFacts &launch);
  /// Instead: KernelCompiler::countOperations.
  Expected<std::optional<SourceOperations>>
  countOperations(const LaunchFacts &launch);

private:
  /// A step of a compilation, and the stage that it leaves behind, if any.
  struct Step {
    /// Under which its time is kept; null: it keeps its own times.
    const char *time = nullptr;
    /// Null: the stage is made for those who look at it.
    Status (Compilation::*run)() = nullptr;
    const Stage *stage = nullptr;
    /// The text of the stage; null: the module is the text, and may be edited.
    Expected<std::string> (Compilation::*text)() = nullptr;
  };
  static const Step sourceSteps[], interpSteps[], cpuSteps[], gpuSteps[],
      nvptxSteps[], amdgpuSteps[];

  Status runAll();
  /// For NEREID_LOG=dispatch, and for the result.
  void reportDecisions();
  Status runSteps(std::span<const Step> steps);
  Status runStep(const Step &step);
  /// Records the text of a stage; takes an edited one in its place.
  Status endStage(const Step &step);

  // From source to Tile.
  Expected<std::string> astText();
  Status generateTile();
  Status expandUserFunctions();
  Status simplifyTiles();
  Status describeImage();

  Status keepTiles();

  // Of a CPU.
  Status convertToLoops();
  Status lowerLoops();
  Expected<std::string> cpuLlvmText();
  Expected<std::string> assemblyText();
  Expected<std::string> linesText();
  Status emitObject();
  Expected<std::string> objectText();

  // Of a GPU.
  Status layOutTiles();
  Status makeThreads();
  Status lowerThreads();
  Expected<std::string> ptxLlvmText();
  Status emitPtx();
  Expected<std::string> codeObjectLlvmText();
  Expected<std::string> codeObjectAssembly();
  Status emitCodeObject();
  Expected<std::string> imageText();

  // What they share.
  /// Runs the passes that `build` adds and keeps the time of each; `stage` is
  /// what they were to make.
  Status runPasses(const Stage &stage,
                   llvm::function_ref<void(mlir::OpPassManager &)> build);
  Status lowerToLLVM(const tile::ExpandMathOptions &math,
                     llvm::ArrayRef<llvm::StringRef> machineDialects = {});
  void warn(std::vector<Diagnostic> warnings);
  void noteWritten(const std::vector<bool> &parameters);
  void addTimes(const StageTimes &times);
  const cpu::CpuTarget &cpu() const { return std::get<cpu::CpuTarget>(target); }
  /// Of a GPU.
  const tilegpu::TargetInfo &gpu() const { return *gpuOf(target); }

  mlir::MLIRContext &context;
  const CompileRequest &request;
  const Target &target;
  StageRecorder recorder;
  DiagnosticCollector collector;
  std::unique_ptr<DecisionLog> decisions; ///< null: not asked for
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CompileResult result;
};

} // namespace nereid

#endif // NEREID_PIPELINE_COMPILATION_H
