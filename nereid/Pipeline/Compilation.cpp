//===- Compilation.cpp - One kernel from source to image ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/Compilation.h"

#include "nereid/ABI/Encoding.h"
#include "nereid/ABI/TrappingAsserts.h"
#include "nereid/Analysis/CountOperations.h"
#include "nereid/Analysis/OutsideAccesses.h"
#include "nereid/Conversion/AssemblyToTile/AssemblyToTile.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"
#include "nereid/Conversion/ToLLVM/ToLLVM.h"
#include "nereid/Dialect/Tile/IR/Kernel.h"
#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/AssignSites.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"
#include "nereid/IRGen/IRGen.h"
#include "nereid/Pipeline/CheckedOptions.h"
#include "nereid/Pipeline/GpuPipeline.h"
#include "nereid/Pipeline/IgnoredOptions.h"
#include "nereid/Pipeline/PassTimes.h"
#include "nereid/Support/Hash.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"
#include "nereid/Syntax/Dump.h"
#include "nereid/Syntax/Parser.h"
#include "nereid/Target/AMDGPU/CodeObject.h"
#include "nereid/Target/CPU/LineTable.h"

#include "mlir/Parser/Parser.h"

#include <bit>
#include <cstring>

using namespace mlir;

namespace nereid {

//===----------------------------------------------------------------------===//
// Table of contents
//===----------------------------------------------------------------------===//

using C = Compilation;

const C::Step C::sourceSteps[] = {
    {.stage = &astStage, .text = &C::astText},
    {"irgen", &C::generateTile, &tileStage},
    {"user-functions", &C::expandUserFunctions},
    {.run = &C::simplifyTiles, .stage = &tileOptStage},
    {"describe", &C::describeImage},
};

const C::Step C::interpSteps[] = {
    {"print", &C::keepTiles},
};

const C::Step C::cpuSteps[] = {
    {"tile-to-cpu", &C::convertToLoops, &cpuStage},
    {"to-llvm", &C::lowerLoops, &llvmDialectStage},
    {.stage = &llvmStage, .text = &C::cpuLlvmText},
    {.stage = &asmStage, .text = &C::assemblyText},
    {.stage = &linesStage, .text = &C::linesText},
    {.run = &C::emitObject, .stage = &objectStage, .text = &C::objectText},
};

const C::Step C::gpuSteps[] = {
    {.run = &C::layOutTiles, .stage = &tileGpuStage},
    {.run = &C::makeThreads, .stage = &gpuStage},
    {"to-llvm", &C::lowerThreads, &llvmDialectStage},
};

const C::Step C::nvptxSteps[] = {
    {.stage = &llvmStage, .text = &C::ptxLlvmText},
    {.run = &C::emitPtx, .stage = &ptxStage, .text = &C::imageText},
};

const C::Step C::amdgpuSteps[] = {
    {.stage = &llvmStage, .text = &C::codeObjectLlvmText},
    {.stage = &amdgcnStage, .text = &C::codeObjectAssembly},
    {.run = &C::emitCodeObject, .stage = &hsacoStage, .text = &C::imageText},
};

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

static std::string print(ModuleOp module, bool withLocations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo(withLocations));
  return text;
}

static std::vector<std::byte> toBytes(const std::string &text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// "add_kernel-1f2e3d4c": what the dumps of one specialization are kept in. The
/// source is no part of it, so that an edited one finds its files again.
static std::string folderOf(const CompileRequest &request,
                            const Target &target) {
  Encoder key;
  key.add(nameOf(target)).add(request.options);
  for (const ArgumentSpec &spec : request.arguments) {
    key.add(spec);
  }
  return request.kernel + "-" + hashText(key.bytes).hex().substr(0, 8);
}

Compilation::Compilation(MLIRContext &context, const CompileRequest &request,
                         const Target &target)
    : context(context), request(request), target(target),
      recorder(folderOf(request, target), request.emit),
      collector(context, request.source) {}

Status Compilation::runAll() {
  std::span<const Step> own = interpSteps, last;
  if (std::holds_alternative<cpu::CpuTarget>(target)) {
    own = cpuSteps;
  } else if (gpuOf(target)) {
    own = gpuSteps;
    last = std::holds_alternative<nvptx::NvptxTarget>(target)
               ? std::span<const Step>(nvptxSteps)
               : amdgpuSteps;
  }
  for (std::span<const Step> steps :
       {std::span<const Step>(sourceSteps), own, last}) {
    if (Status status = runSteps(steps); !status.ok()) {
      return status;
    }
  }
  return {};
}

void Compilation::reportDecisions() {
  std::vector<LocatedDecision> made = decisions->take();
  std::string of = request.kernel + " [" + nameOf(target) + "]";
  std::string text = render(made);
  if (!text.empty() && logEnabled(LogTopic::Dispatch)) {
    text.pop_back(); // the log ends the line
    logLine(LogTopic::Dispatch, of + ":\n" + text);
  }
  for (const LocatedDecision &one : made) {
    const Decision &d = one.decision;
    result.decisions.push_back(
        {one.location, d.subject, d.chosen, d.rejected, d.reason, d.hint});
  }
}

Expected<CompileResult> Compilation::run() {
  if (logEnabled(LogTopic::Dispatch) || request.wantsDecisions) {
    decisions = std::make_unique<DecisionLog>(context, request.source);
  }
  Status status = runAll();
  if (decisions) {
    reportDecisions();
  }
  if (!status.ok()) {
    return status;
  }
  result.image.stageTimes = std::move(recorder.times);
  for (Diagnostic &warning : collector.warnings()) {
    result.image.warnings.push_back(std::move(warning));
  }
  result.stage = recorder.takeText();
  return std::move(result);
}

/// "element 7", "elements 7 to 9".
static std::string indexText(int64_t first, int64_t last) {
  return first == last ? "element " + std::to_string(first)
                       : "elements " + std::to_string(first) + " to " +
                             std::to_string(last);
}

/// "program 3", "program (3, 0, 1)".
static std::string programText(const std::array<int32_t, 3> &program,
                               const std::array<int32_t, 3> &grid) {
  std::string text = "program " + std::to_string(program[0]);
  if (grid[1] == 1 && grid[2] == 1) {
    return text;
  }
  return "program (" + std::to_string(program[0]) + ", " +
         std::to_string(program[1]) + ", " + std::to_string(program[2]) + ")";
}

/// The parameter with this value, to be compared with; else the number itself.
static std::string boundText(const LaunchFacts &launch, int64_t elements) {
  for (const auto &[name, value] : launch.values) {
    if (!value.isPointer && value.integer == elements) {
      return name;
    }
  }
  return std::to_string(elements);
}

static Diagnostic outsideWarning(func::FuncOp kernel,
                                 const OutsideAccess &outside,
                                 const LaunchFacts &launch,
                                 const Source &source) {
  std::string array = kernel
                          .getArgAttrOfType<StringAttr>(
                              outside.array.getArgNumber(), tile::nameAttr)
                          .str();
  auto access = cast<tile::MemoryAccess>(outside.op);
  std::string verb = access.getVerb().str();
  if (access.reads() && access.writes()) {
    verb += " operation";
  }
  Diagnostic warning =
      makeDiagnostic(outside.op->getLoc(), Severity::Warning,
                     verb + " leaves " + array + ": expected " +
                         indexText(0, outside.elements - 1) + ", got " +
                         indexText(outside.firstIndex, outside.lastIndex) +
                         " in " + programText(outside.program, launch.grid),
                     source);
  std::string bound = boundText(launch, outside.elements);
  warning.hint =
      outside.firstIndex < 0
          ? "an index is negative: mask it with index >= 0, or begin later"
      : outside.hasMask
          ? "the mask lets them through: it should be false from " + bound +
                " on"
          : "pass mask=index < " + bound +
                ", with the index that is added to " + array;
  return warning;
}

Expected<std::vector<Diagnostic>>
Compilation::findOutside(const LaunchFacts &launch) {
  if (Status status = runSteps(sourceSteps); !status.ok()) {
    return status;
  }
  auto kernel = tile::findKernel(*module);
  if (!kernel.ok()) {
    return kernel.status();
  }
  std::vector<Diagnostic> warnings;
  for (const OutsideAccess &one : findOutsideAccesses(*kernel, launch)) {
    warnings.push_back(outsideWarning(*kernel, one, launch, request.source));
  }
  return warnings;
}

Expected<std::optional<SourceOperations>>
Compilation::countOperations(const LaunchFacts &launch) {
  if (Status status = runSteps(sourceSteps); !status.ok()) {
    return status;
  }
  auto kernel = tile::findKernel(*module);
  if (!kernel.ok()) {
    return kernel.status();
  }
  return nereid::countOperations(*kernel, launch);
}

Status Compilation::runSteps(std::span<const Step> steps) {
  for (const Step &step : steps) {
    if (recorder.isDone()) {
      break;
    }
    if (Status status = runStep(step); !status.ok()) {
      return status;
    }
  }
  return Status::success();
}

Status Compilation::runStep(const Step &step) {
  if (step.run) {
    auto run = [&] { return (this->*step.run)(); };
    Status status = step.time ? recorder.timed(step.time, run) : run();
    if (!status.ok()) {
      return status;
    }
  }
  return step.stage ? endStage(step) : Status::success();
}

Status Compilation::endStage(const Step &step) {
  const Stage &stage = *step.stage;
  if (step.text) {
    if (!recorder.wants(stage)) {
      return Status::success();
    }
    Expected<std::string> text = (this->*step.text)();
    if (text.ok()) {
      recorder.record(stage, *text);
    }
    return text.status();
  }
  auto edited = recorder.takeEdited(
      stage, [&] { return print(*module, /*withLocations=*/false); });
  if (!edited.ok()) {
    return edited.status();
  }
  if (const std::optional<EditedStage> &file = *edited) {
    logLine(LogTopic::Compile,
            request.kernel + ": stage " + stage.name + " from an edited file");
    module = parseSourceString<ModuleOp>(file->text, &context, file->path);
    if (!module) {
      return collector.failure(stage.name);
    }
  }
  if (recorder.wants(stage)) {
    recorder.record(stage, print(*module, /*withLocations=*/false));
  }
  return Status::success();
}

Status Compilation::runPasses(const Stage &stage,
                              llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(&context, ModuleOp::getOperationName());
  passes.enableVerifier(knobs().verify);
  passes.addInstrumentation(std::make_unique<PassTimes>(recorder));
  build(passes);
  return succeeded(passes.run(*module)) ? Status::success()
                                        : collector.failure(stage.name);
}

void Compilation::addTimes(const StageTimes &times) {
  for (const auto &[name, ms] : times) {
    recorder.addTime(name, ms);
  }
}

//===----------------------------------------------------------------------===//
// From source to Tile
//===----------------------------------------------------------------------===//

Expected<std::string> Compilation::astText() {
  auto parsed = parseModule(request.source.path, request.source.text);
  if (!parsed.ok()) {
    return parsed.status();
  }
  return ast::dump((*parsed)->module);
}

Status Compilation::generateTile() {
  auto generated = irgen::generate(context, request, result.image.warnings);
  if (!generated.ok()) {
    return generated.status();
  }
  module = std::move(*generated);
  return Status::success();
}

/// Assembly for targets that do not understand it, and functions of elements
/// for those whose elements go one way.
Status Compilation::expandUserFunctions() {
  if (std::holds_alternative<nvptx::NvptxTarget>(target)) {
    return Status::success();
  }
  if (failed(convertAssemblyToTile(*module))) {
    return collector.failure(tileStage.name);
  }
  bool hasMaps =
      module->walk([](tile::MapOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!std::holds_alternative<cpu::CpuTarget>(target) || !hasMaps) {
    return Status::success();
  }
  return runPasses(tileStage, [](OpPassManager &pm) {
    pm.addNestedPass<func::FuncOp>(tile::createExpandMaps());
  });
}

Status Compilation::simplifyTiles() {
  tile::TilePipelineOptions options;
  options.checkBounds = request.options.checks & CheckBounds;
  options.checkNan = request.options.checks & CheckNan;
  return runPasses(tileOptStage, [&](OpPassManager &pm) {
    tile::buildTilePipeline(pm, options);
  });
}

/// The parameters that exist at run time, from the function's attributes.
static Expected<std::vector<ImageParameter>>
readParameters(func::FuncOp kernel) {
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

/// Checks have a parameter after all others; roles of warps deal out the
/// registers themselves.
static bool allowsTensorMaps(const CompileOptions &options) {
  return options.tensorMaps && !options.checks && !options.maxRegisters &&
         !options.minRegisters;
}

Status Compilation::describeImage() {
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
  image.target = nameOf(target);
  image.parameters = std::move(*parameters);
  image.numWarps = request.options.numWarps;
  kernel->walk([&](tile::RelaxOp relax) {
    image.programsWait = true;
    reportDecision(relax, [] {
      return Decision{"programs", "each has a thread of its own on a CPU",
                      "several after each other on one thread",
                      "this loop waits for what other programs write", ""};
    });
  });
  image.sites = tile::assignSites(kernel);
  for (ImageSite &site : image.sites) {
    if (site.sourceLine.empty() && site.location.file == request.source.path) {
      site.sourceLine = getSourceLine(request.source, site.location.line);
    }
  }
  bool isGpu = gpuOf(target);
  warn(ignoredLoopHints(kernel, request.source, image.target, isGpu,
                        isGpu && gpu().hasTensorMaps &&
                            allowsTensorMaps(request.options)));
  if (!isGpu) {
    warn(optionsIgnoredOnHost(kernel, request, image.target));
  }
  return Status::success();
}

/// The image of the reference executor. With locations: it must be able to say
/// where a check failed.
Status Compilation::keepTiles() {
  KernelImage &image = result.image;
  image.format = ImageFormat::TileIR;
  for (ImageParameter &parameter : image.parameters) {
    parameter.isWritten = parameter.isPointer && !parameter.isConst;
  }
  image.code = toBytes(print(*module, /*withLocations=*/true));
  return Status::success();
}

void Compilation::warn(std::vector<Diagnostic> warnings) {
  for (Diagnostic &warning : warnings) {
    result.image.warnings.push_back(std::move(warning));
  }
}

void Compilation::noteWritten(const std::vector<bool> &parameters) {
  for (size_t i = 0; i < result.image.parameters.size(); ++i) {
    result.image.parameters[i].isWritten = parameters[i];
  }
}

Status Compilation::lowerToLLVM(const tile::ExpandMathOptions &math,
                                ArrayRef<StringRef> machineDialects) {
  tile::expandMath(*module, math);
  return convertToLLVM(*module, machineDialects);
}

//===----------------------------------------------------------------------===//
// Of a CPU
//===----------------------------------------------------------------------===//

Status Compilation::convertToLoops() {
  auto converted = convertTileToCPU(*module, cpu(), request.options.fpFusion);
  if (!converted.ok()) {
    return converted.status();
  }
  KernelImage &image = result.image;
  image.format = ImageFormat::HostObject;
  image.entry = converted->entry;
  image.scratchBytes = converted->scratchBytes;
  noteWritten(converted->writtenParameters);
  return Status::success();
}

Status Compilation::lowerLoops() { return lowerToLLVM(mathOptionsOf(cpu())); }

Expected<std::string> Compilation::cpuLlvmText() {
  return cpu::emitLlvmText(*module, cpu());
}

Expected<std::string> Compilation::assemblyText() {
  return cpu::emitAssembly(*module, cpu());
}

Expected<std::string> Compilation::linesText() {
  return cpu::emitLineTable(*module, cpu(), result.image.entry,
                            tile::sourceLocationOf);
}

Status Compilation::emitObject() {
  StageTimes times;
  auto object = cpu::emitObject(*module, cpu(), {}, &times);
  addTimes(times);
  if (object.ok()) {
    result.image.code = std::move(*object);
  }
  return object.status();
}

Expected<std::string> Compilation::objectText() {
  const std::vector<std::byte> &code = result.image.code;
  return std::string(reinterpret_cast<const char *>(code.data()), code.size());
}

//===----------------------------------------------------------------------===//
// Of a GPU
//===----------------------------------------------------------------------===//

static GpuOptions gpuOptions(const CompileRequest &request,
                             const tilegpu::TargetInfo &target) {
  return {target.name,
          request.options.numWarps,
          request.options.numStages,
          request.options.fpFusion,
          allowsTensorMaps(request.options),
          request.options.matrixSize,
          knobs().disable,
          request.options.dependentLaunch};
}

Status Compilation::layOutTiles() {
  Status status = checkOptions(request, gpu());
  if (!status.ok()) {
    return status;
  }
  status = runPasses(tileGpuStage, [&](OpPassManager &pm) {
    buildTileGPUPipeline(pm, gpuOptions(request, gpu()));
  });
  if (!status.ok()) {
    return status;
  }
  auto kernel = tile::findKernel(*module);
  if (kernel.ok()) {
    warn(optionsIgnoredOnGpu(*kernel, request, gpu()));
  }
  return kernel.status();
}

/// As the engine that copies boxes tells elements apart: it moves bytes.
static uint32_t tensorMapElement(Type element) {
  return tile::getElementBytes(element);
}

/// The driver of an NVIDIA GPU can stop at assertions.
static void markTraps(ModuleOp module, const CompileRequest &request) {
  if (request.options.checks & AssertsTrap) {
    module->walk([](tile::AssertOp assertion) {
      assertion->setAttr(trapsAttr, UnitAttr::get(assertion.getContext()));
    });
  }
}

Status Compilation::makeThreads() {
  if (std::holds_alternative<nvptx::NvptxTarget>(target)) {
    markTraps(*module, request);
  }
  Status status = runPasses(gpuStage, [&](OpPassManager &pm) {
    buildGpuThreadsPipeline(pm, gpuOptions(request, gpu()));
  });
  if (!status.ok()) {
    return status;
  }
  auto kernel = readGpuKernel(*module);
  if (!kernel.ok()) {
    return kernel.status();
  }
  status = checkSharedMemory(*kernel, gpu(), request.kernel);
  if (!status.ok()) {
    return status;
  }
  KernelImage &image = result.image;
  image.format = ImageFormat::GpuAssembly;
  image.entry = kernel->entry;
  image.threadsPerBlock = kernel->threads;
  image.sharedBytes = kernel->sharedBytes;
  image.hasFaultRecord = kernel->hasFaultRecord;
  for (tilegpu::TensorMapSourceAttr map : kernel->tensorMaps) {
    auto box = map.getBox();
    image.tensorMaps.push_back(
        {map.getBase(),
         tensorMapElement(map.getElementType()),
         map.getSwizzleBytes(),
         {box.begin(), box.end()},
         {map.getNumbers().begin(), map.getNumbers().end()}});
  }
  noteWritten(kernel->writtenParameters);
  return Status::success();
}

Status Compilation::lowerThreads() {
  return lowerToLLVM(gpuMath(), machineDialects());
}

/// What the launch says of registers stands before what the kernel does.
static nvptx::EmitOptions emitOptions(const CompileOptions &options,
                                      ModuleOp module) {
  nvptx::EmitOptions emit;
  emit.recomputesInvariants =
      !llvm::is_contained(knobs().disable, "recomputed-invariants");
  emit.maxRegisters = options.maxRegisters;
  emit.minRegisters = options.minRegisters;
  if (!emit.maxRegisters && !emit.minRegisters) {
    auto kernel = readGpuKernel(module);
    emit.maxRegisters = kernel.ok() ? kernel->mostRegisters : 0;
    emit.minRegisters =
        kernel.ok() && !emit.maxRegisters ? kernel->registers : 0;
  }
  return emit;
}

Expected<std::string> Compilation::ptxLlvmText() {
  return nvptx::emitLlvmText(*module, std::get<nvptx::NvptxTarget>(target),
                             emitOptions(request.options, *module));
}

Status Compilation::emitPtx() {
  StageTimes times;
  auto ptx = nvptx::emitPtx(*module, std::get<nvptx::NvptxTarget>(target),
                            emitOptions(request.options, *module), &times);
  addTimes(times);
  if (ptx.ok()) {
    result.image.code = toBytes(*ptx);
  }
  return ptx.status();
}

static amdgpu::EmitOptions emitOptions(const CompileOptions &options,
                                       const KernelImage &image) {
  return {image.sharedBytes, options.wavesPerUnit};
}

Expected<std::string> Compilation::codeObjectLlvmText() {
  return amdgpu::emitLlvmText(*module, std::get<amdgpu::AmdgpuTarget>(target),
                              emitOptions(request.options, result.image));
}

Expected<std::string> Compilation::codeObjectAssembly() {
  return amdgpu::emitAssembly(*module, std::get<amdgpu::AmdgpuTarget>(target),
                              emitOptions(request.options, result.image));
}

Status Compilation::emitCodeObject() {
  StageTimes times;
  auto object = amdgpu::emitCodeObject(
      *module, std::get<amdgpu::AmdgpuTarget>(target),
      emitOptions(request.options, result.image), &times);
  addTimes(times);
  if (!object.ok()) {
    return object.status();
  }
  Expected<amdgpu::Resources> resources = amdgpu::readResources(*object);
  if (!resources.ok()) {
    return resources.status();
  }
  KernelImage &image = result.image;
  image.format = ImageFormat::GpuBinary;
  image.code = toBytes(*object);
  image.numRegisters = resources->vectorRegisters;
  image.localBytes = resources->privateBytes;
  return {};
}

Expected<std::string> Compilation::imageText() { return objectText(); }

} // namespace nereid
