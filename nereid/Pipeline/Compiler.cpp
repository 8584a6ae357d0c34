//===- Compiler.cpp - The stages, in order --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements nereid/ABI/KernelCompiler.h. `compileCpu` and its neighbours read
// as the list of stages: a line for each, with what it leaves behind.
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/KernelCompiler.h"

#include "nereid/Conversion/AssemblyToTile/AssemblyToTile.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"
#include "nereid/Dialect/Tile/IR/Kernel.h"
#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/AssignSites.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"
#include "nereid/IRGen/IRGen.h"
#include "nereid/Interp/Interp.h"
#include "nereid/Pipeline/BuildId.h"
#include "nereid/Pipeline/ContextPool.h"
#include "nereid/Pipeline/Diagnostics.h"
#include "nereid/Pipeline/GpuSteps.h"
#include "nereid/Pipeline/StageRecorder.h"
#include "nereid/Support/Log.h"
#include "nereid/Syntax/Dump.h"
#include "nereid/Syntax/Parser.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CPU/LineTable.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <bit>
#include <cstring>

using namespace mlir;

namespace nereid {
namespace {

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(false);
  module.print(stream, flags);
  return text;
}

/// With locations: an image must be able to say where a check failed.
std::string printWithLocations(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo(true));
  return text;
}

std::vector<std::byte> toBytes(const std::string &text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// The parameters that exist at run time, from the function's attributes.
Expected<std::vector<ImageParameter>> readParameters(func::FuncOp kernel) {
  std::vector<ImageParameter> parameters;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    ImageParameter parameter;
    if (auto name = kernel.getArgAttrOfType<StringAttr>(i, tile::nameAttr)) {
      parameter.name = name.str();
    }
    auto spelled = kernel.getArgAttrOfType<StringAttr>(i, tile::dtypeAttr);
    llvm::StringRef text = spelled ? spelled.getValue() : "";
    parameter.isPointer = text.consume_front("*");
    if (parameter.isPointer) {
      text.consume_front("k");
    }
    parameter.isConst =
        static_cast<bool>(kernel.getArgAttr(i, tile::constAttr));
    std::optional<DType> dtype =
        parseDType(std::string_view(text.data(), text.size()));
    if (!dtype) {
      return {ErrorCode::InvalidArgument,
              "argument " + std::to_string(i) + " of kernel '" +
                  kernel.getName().str() + "' has no valid tile.dtype"};
    }
    parameter.dtype = *dtype;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// One compilation: what its stages share.
class Compilation {
public:
  Compilation(MLIRContext &context, const CompileRequest &request)
      : context(context), request(request),
        recorder(request.kernel, request.emit),
        collector(context, request.source) {}

  Expected<CompileResult> run(const std::string &target);

private:
  Status makeAst();
  Status makeTile();
  Status expandUserFunctions(const std::string &target);
  Status optimiseTile();
  Status describeImage(const std::string &target);
  Status compileInterp();
  Status compileCpu(const cpu::CpuTarget &target);
  Status compileGpu(const nvptx::NvptxTarget &target);

  // What the two share.
  void noteWritten(const std::vector<bool> &parameters);
  Status lowerToLLVM(const tile::ExpandMathOptions &math);
  /// Emits the text of a stage behind MLIR, if anybody wants it.
  Status emitStage(const Stage &stage,
                   llvm::function_ref<Expected<std::string>()> emit);
  /// Runs the last stage, `emit(StageTimes *)`, and keeps its times.
  template <typename Emit>
  auto timedEmission(Emit emit);

  CompileResult finish() {
    result.image.stageTimes = std::move(recorder.times);
    for (Diagnostic &warning : collector.warnings()) {
      result.image.warnings.push_back(std::move(warning));
    }
    result.stage = recorder.takeText();
    return std::move(result);
  }

  /// After a stage: its text to whoever wants it, and an edited text in its
  /// place if there is one.
  Status endStage(const Stage &stage);

  MLIRContext &context;
  const CompileRequest &request;
  StageRecorder recorder;
  DiagnosticCollector collector;
  OwningOpRef<ModuleOp> module;
  CompileResult result;
};

Status Compilation::endStage(const Stage &stage) {
  Expected<std::optional<std::string>> edited = recorder.overridden(stage);
  if (!edited.ok()) {
    return edited.status();
  }
  if (const std::optional<std::string> &text = *edited) {
    logLine(LogTopic::Compile,
            request.kernel + ": stage " + stage.name + " from an edited file");
    module = parseSourceString<ModuleOp>(*text, &context);
    if (!module) {
      return collector.failure(stage.name);
    }
  }
  if (recorder.wants(stage)) {
    recorder.record(stage, print(*module));
  }
  return Status::success();
}

Status Compilation::makeAst() {
  if (!recorder.wants(astStage)) {
    return Status::success();
  }
  auto parsed = parseModule(request.source.path, request.source.text);
  if (!parsed.ok()) {
    return parsed.status();
  }
  recorder.record(astStage, ast::dump((*parsed)->module));
  return Status::success();
}

Status Compilation::makeTile() {
  std::vector<Diagnostic> &warnings = result.image.warnings;
  auto generated = recorder.timed(
      "irgen", [&] { return irgen::generate(context, request, warnings); });
  if (!generated.ok()) {
    return generated.status();
  }
  module = std::move(*generated);
  return endStage(tileStage);
}

/// Assembly for targets that do not understand it, and functions of elements
/// for those whose elements go one way.
Status Compilation::expandUserFunctions(const std::string &target) {
  if (nvptx::isArchitecture(target)) {
    return Status::success();
  }
  bool passed = recorder.timed("user-functions", [&] {
    if (failed(convertAssemblyToTile(*module))) {
      return false;
    }
    bool hasMaps =
        module->walk([](tile::MapOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (target == "interp" || !hasMaps) {
      return true;
    }
    PassManager passes(&context, ModuleOp::getOperationName());
    passes.enableVerifier(false);
    passes.addNestedPass<func::FuncOp>(tile::createExpandMaps());
    return succeeded(passes.run(*module));
  });
  return passed ? Status::success() : collector.failure("tile");
}

Status Compilation::optimiseTile() {
  bool passed = recorder.timed("tile-passes", [&] {
    PassManager passes(&context, ModuleOp::getOperationName());
    passes.enableVerifier(false);
    tile::TilePipelineOptions options;
    options.checkBounds = request.options.checks & CheckBounds;
    options.checkNan = request.options.checks & CheckNan;
    tile::buildTilePipeline(passes, options);
    return succeeded(passes.run(*module));
  });
  if (!passed) {
    return collector.failure("tile-opt");
  }
  return endStage(tileOptStage);
}

Status Compilation::describeImage(const std::string &target) {
  auto found = tile::findKernel(*module);
  if (!found.ok()) {
    return found.status();
  }
  func::FuncOp kernel = *found;
  auto parameters = readParameters(kernel);
  if (!parameters.ok()) {
    return parameters.status();
  }
  KernelImage &image = result.image;
  image.kernel = request.kernel;
  image.entry = kernel.getName().str();
  image.target = target;
  image.parameters = std::move(*parameters);
  image.numWarps = request.options.numWarps;
  image.programsWait =
      kernel->walk([](tile::RelaxOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  image.sites = tile::assignSites(kernel);
  for (ImageSite &site : image.sites) {
    if (site.sourceLine.empty() && site.location.file == request.source.path) {
      site.sourceLine = getSourceLine(request.source, site.location.line);
    }
  }
  return Status::success();
}

Status Compilation::compileInterp() {
  KernelImage &image = result.image;
  image.format = ImageFormat::TileIR;
  for (ImageParameter &parameter : image.parameters) {
    parameter.isWritten = parameter.isPointer && !parameter.isConst;
  }
  image.code = toBytes(printWithLocations(*module));
  return Status::success();
}

void Compilation::noteWritten(const std::vector<bool> &parameters) {
  for (size_t i = 0; i < result.image.parameters.size(); ++i) {
    result.image.parameters[i].isWritten = parameters[i];
  }
}

Status Compilation::lowerToLLVM(const tile::ExpandMathOptions &math) {
  Status status = recorder.timed("to-llvm", [&]() -> Status {
    tile::expandMath(*module, math);
    return convertToLLVM(*module);
  });
  return status.ok() ? endStage(llvmDialectStage) : status;
}

Status
Compilation::emitStage(const Stage &stage,
                       llvm::function_ref<Expected<std::string>()> emit) {
  if (!recorder.wants(stage)) {
    return Status::success();
  }
  Expected<std::string> text = emit();
  if (text.ok()) {
    recorder.record(stage, *text);
  }
  return text.status();
}

template <typename Emit>
auto Compilation::timedEmission(Emit emit) {
  StageTimes times;
  auto code = emit(&times);
  for (auto &[name, ms] : times) {
    recorder.addTime(name, ms);
  }
  return code;
}

Status Compilation::compileCpu(const cpu::CpuTarget &target) {
  KernelImage &image = result.image;
  image.format = ImageFormat::HostObject;

  CpuTargetInfo info;
  info.vectorBytes = target.vectorBytes;
  info.vectorRegisters = target.vectorRegisters;
  info.hasMaskRegisters = target.hasMaskRegisters;
  info.hasMaskedMemory = target.hasMaskedMemory;
  info.hasGather = target.hasGather;
  info.hasFma = target.hasFma;
  info.hasF16c = target.hasF16c;
  info.fpFusion = request.options.fpFusion;
  auto converted = recorder.timed(
      "tile-to-cpu", [&] { return convertTileToCPU(*module, info); });
  if (!converted.ok()) {
    return converted.status();
  }
  image.entry = converted->entry;
  image.scratchBytes = converted->scratchBytes;
  noteWritten(converted->writtenParameters);
  Status status = endStage(cpuStage);
  if (!status.ok() || recorder.isDone()) {
    return status;
  }

  tile::ExpandMathOptions math;
  math.hasFma = target.hasFma;
  math.hasScalef = target.hasMaskRegisters;
  status = lowerToLLVM(math);
  if (status.ok() && !recorder.isDone()) {
    status = emitStage(llvmStage,
                       [&] { return cpu::emitLlvmText(*module, target); });
  }
  if (status.ok() && !recorder.isDone()) {
    status =
        emitStage(asmStage, [&] { return cpu::emitAssembly(*module, target); });
  }
  if (!status.ok() || recorder.isDone()) {
    return status;
  }

  if (request.emit == linesStage.name) {
    auto table = cpu::emitLineTable(*module, target, image.entry,
                                    tile::sourceLocationOf);
    if (table.ok()) {
      recorder.record(linesStage, *table);
    }
    return table.status();
  }
  auto object = timedEmission([&](StageTimes *times) {
    return cpu::emitObject(*module, target, {}, times);
  });
  if (!object.ok()) {
    return object.status();
  }
  image.code = std::move(*object);
  return emitStage(objectStage, [&]() -> Expected<std::string> {
    return std::string(reinterpret_cast<const char *>(image.code.data()),
                       image.code.size());
  });
}

Status Compilation::compileGpu(const nvptx::NvptxTarget &target) {
  KernelImage &image = result.image;
  image.format = ImageFormat::Ptx;

  if (uint32_t warps = request.options.numWarps;
      !std::has_single_bit(warps) || warps > 32) {
    return {ErrorCode::InvalidArgument,
            "num_warps is " + std::to_string(warps) +
                "; expected 1, 2, 4, 8, 16 or 32 for " + target.name};
  }
  GpuOptions gpu;
  gpu.warps = request.options.numWarps;
  gpu.stages = request.options.numStages;
  gpu.fpFusion = request.options.fpFusion;
  Status status = recorder.timed("tile-to-tilegpu", [&] {
    return chooseGpuLayouts(*module, target, gpu);
  });
  if (!status.ok()) {
    return status;
  }
  recorder.timed("tilegpu-passes", [&] {
    optimiseGpuTiles(*module, target, gpu);
    return true;
  });
  status = endStage(tileGpuStage);
  if (!status.ok() || recorder.isDone()) {
    return status;
  }

  auto lowered = recorder.timed(
      "tilegpu-to-llvm", [&] { return makeGpuThreads(*module, target, gpu); });
  if (!lowered.ok()) {
    return lowered.status();
  }
  status = checkSharedMemory(*lowered, target, request.kernel);
  if (!status.ok()) {
    return status;
  }
  image.entry = lowered->entry;
  image.sharedBytes = lowered->sharedBytes;
  image.hasFaultRecord = lowered->hasFaultRecord;
  noteWritten(lowered->writtenParameters);
  status = endStage(gpuStage);
  if (!status.ok() || recorder.isDone()) {
    return status;
  }

  status = lowerToLLVM(gpuMath());
  nvptx::EmitOptions options;
  options.maxRegisters = request.options.maxRegisters;
  options.minRegisters = request.options.minRegisters;
  if (status.ok() && !recorder.isDone()) {
    status = emitStage(llvmStage, [&] {
      return nvptx::emitLlvmText(*module, target, options);
    });
  }
  if (!status.ok() || recorder.isDone()) {
    return status;
  }

  auto ptx = timedEmission([&](StageTimes *times) {
    return nvptx::emitPtx(*module, target, options, times);
  });
  if (!ptx.ok()) {
    return ptx.status();
  }
  image.code = toBytes(*ptx);
  return emitStage(ptxStage, [&] { return ptx; });
}

Expected<CompileResult> Compilation::run(const std::string &target) {
  Status status = makeAst();
  if (status.ok() && !recorder.isDone()) {
    status = makeTile();
  }
  if (status.ok() && !recorder.isDone()) {
    status = expandUserFunctions(target);
  }
  if (status.ok() && !recorder.isDone()) {
    status = optimiseTile();
  }
  if (status.ok() && !recorder.isDone()) {
    status = describeImage(target);
  }
  if (status.ok() && !recorder.isDone()) {
    if (target == "interp") {
      status = compileInterp();
    } else if (nvptx::isArchitecture(target)) {
      auto gpuTarget = nvptx::resolve(target);
      status = gpuTarget.ok() ? compileGpu(*gpuTarget) : gpuTarget.status();
    } else {
      auto cpuTarget = cpu::resolve(target);
      status = cpuTarget.ok() ? compileCpu(*cpuTarget) : cpuTarget.status();
    }
  }
  if (!status.ok()) {
    return status;
  }
  return finish();
}

class PipelineCompiler : public KernelCompiler {
public:
  std::string buildId() const override { return getBuildId(); }

  Expected<std::string> resolveTarget(const std::string &target) override {
    if (target == "interp") {
      return target;
    }
    if (nvptx::isArchitecture(target)) {
      auto resolved = nvptx::resolve(target);
      if (!resolved.ok()) {
        return resolved.status();
      }
      return target;
    }
    auto resolved = cpu::resolve(target);
    if (!resolved.ok()) {
      return resolved.status();
    }
    return resolved->name;
  }

  Expected<std::vector<std::string>>
  listKernels(const Source &source) override {
    return irgen::listKernels(source);
  }

  Expected<KernelDescription> describe(const Source &source,
                                       const std::string &kernel) override {
    return irgen::describe(source, kernel);
  }

  Expected<CompileResult> compile(const CompileRequest &request) override {
    auto target = resolveTarget(request.target);
    if (!target.ok()) {
      return target.status();
    }
    const CompileOptions &options = request.options;
    if (options.maxRegisters && options.minRegisters > options.maxRegisters) {
      return {
          ErrorCode::InvalidArgument,
          "kernel '" + request.kernel +
              "': minnreg=" + std::to_string(options.minRegisters) +
              " is more than maxnreg=" + std::to_string(options.maxRegisters)};
    }
    ContextPool::Lease context = contexts.take();
    return Compilation(*context, request).run(*target);
  }

  Expected<StaticValue> evaluate(const EvaluateRequest &request) override {
    return irgen::evaluate(request);
  }

  Expected<std::vector<HookAction>>
  runHook(const HookRequest &request) override {
    return irgen::runHook(request);
  }

  Expected<std::vector<size_t>>
  pruneConfigs(const HookRequest &request) override {
    return irgen::pruneConfigs(request);
  }

  Expected<HostCode> load(const KernelImage &image) override {
    switch (image.format) {
    case ImageFormat::HostObject:
      return cpu::loadObject(image.code, image.entry);
    case ImageFormat::TileIR:
      return interp::load(
          std::string_view(reinterpret_cast<const char *>(image.code.data()),
                           image.code.size()),
          image.entry);
    case ImageFormat::Ptx:
    case ImageFormat::Cubin:
      break;
    }
    return {ErrorCode::Unsupported, "kernel '" + image.kernel +
                                        "' is compiled for " + image.target +
                                        ", which is not host code"};
  }

private:
  ContextPool contexts;
};
} // namespace

std::unique_ptr<KernelCompiler> createKernelCompiler() {
  return std::make_unique<PipelineCompiler>();
}

} // namespace nereid
