//===- Explainer.cpp - Launches, explained on the simulated GPU -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explainer.h"

#include "Commands.h"
#include "OutsideWarnings.h"
#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/Runtime/Stream.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"
#include "nereid/Target/AMDGPU/CodeLines.h"
#include "nereid/Target/AMDGPU/CodeObject.h"
#include "nereid/Target/NVPTX/Nvdisasm.h"
#include "nereid/Target/NVPTX/Occupancy.h"
#include "nereid/Target/NVPTX/Ptxas.h"
#include "nereid/Tune/TuningStore.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace nereid {

/// Instructions of warps of a grid that runs as a whole: two seconds or so.
static constexpr uint64_t wholeCost = 40'000'000;

/// Without ptxas, or one that knows the target, registers stay unknown.
static explain::Resources resourcesOf(const gpu::ProfiledLaunch &launch,
                                      KernelImage &image) {
  explain::Resources resources;
  resources.threads = launch.threads;
  resources.sharedBytes = launch.sharedBytes;
  image = {};
  image.format = ImageFormat::GpuAssembly;
  image.kernel = image.entry = launch.program.name;
  image.target = launch.program.target;
  image.sharedBytes = launch.sharedBytes;
  image.threadsPerBlock = launch.threads;
  auto *bytes = reinterpret_cast<const std::byte *>(launch.ptx.data());
  image.code.assign(bytes, bytes + launch.ptx.size());
  Expected<std::string> ptxas = nvptx::findPtxas();
  const std::string &named = knobs().ptxas;
  bool isNamed = !named.empty() && named != "none";
  Status assembled =
      ptxas.ok() ? nvptx::assemble(*ptxas, image) : ptxas.status();
  if (!assembled.ok()) {
    if (ptxas.ok() || isNamed) {
      warnOnce(assembled.failure().message);
    }
    return resources;
  }
  resources.registers = image.numRegisters;
  resources.spillBytes = image.spillBytes;
  if (auto occupancy = nvptx::occupancyOf(image); occupancy.ok()) {
    resources.residentBlocks = occupancy->blocks;
    resources.warps = occupancy->warps;
    resources.mostWarps = occupancy->mostWarps;
    resources.limit = occupancy->limit;
  }
  return resources;
}

/// What the code object states, as `nereid compile -v` tells it.
static explain::Resources resourcesOf(const gpu::ProfiledHipLaunch &launch) {
  explain::Resources resources;
  resources.threads = launch.threads;
  resources.lanes = launch.kernel.lanes;
  amdgpu::Resources read = valueOrThrow(amdgpu::readResources(launch.object));
  resources.registers = read.vectorRegisters;
  resources.accumulationRegisters = read.accumulationRegisters;
  resources.scalarRegisters = read.scalarRegisters;
  resources.vectorSpills = read.vectorSpills;
  resources.scalarSpills = read.scalarSpills;
  resources.scratchBytes = read.privateBytes;
  resources.sharedBytes = read.sharedBytes + launch.sharedBytes;
  amdgpu::Occupancy occupancy = valueOrThrow(amdgpu::occupancyOf(
      read, resources.warpsOfBlock(), sim::amd::targetOf(launch.program)));
  resources.residentBlocks = occupancy.workgroups;
  resources.warps = occupancy.waves;
  resources.mostWarps = occupancy.mostWaves;
  resources.limit = occupancy.limit;
  return resources;
}

static std::vector<explain::Array> arraysOf(const RunArguments &arguments) {
  std::vector<explain::Array> arrays;
  for (size_t i = 0; i < arguments.values.size(); ++i) {
    if (auto *tensor = std::get_if<Tensor>(&arguments.values[i])) {
      arrays.push_back({arguments.texts[i].name,
                        reinterpret_cast<uint64_t>(tensor->data()),
                        uint64_t(tensor->extentBytes())});
    }
  }
  return arrays;
}

/// Values that the launch gives at run time.
static std::vector<int64_t> integersOf(const RunArguments &arguments,
                                       const KernelDescription &kernel) {
  std::vector<int64_t> integers;
  for (size_t i = 0; i < arguments.values.size(); ++i) {
    auto *value = std::get_if<StaticValue>(&arguments.values[i]);
    bool isParameter =
        std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                    [&](const ParameterDescription &parameter) {
                      return parameter.name == arguments.texts[i].name &&
                             !parameter.isStatic;
                    });
    if (value && isParameter && std::holds_alternative<int64_t>(value->value)) {
      integers.push_back(std::get<int64_t>(value->value));
    }
  }
  return integers;
}

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

std::optional<ConfigDescription>
ExplainChooser::find(const TuningKey &key, const KernelDescription &) {
  text_.clear();
  if (!wanted.empty()) {
    return std::nullopt;
  }
  const char *vendor = target.starts_with("gfx") ? "(gfx" : "(sm_";
  std::optional<tune::TuningRecord> best;
  for (tune::TuningRecord &record : tune::TuningStore::ofThisUser().all()) {
    bool isSame = record.kernel == key.kernel &&
                  record.sourceHash == key.sourceHash &&
                  record.values == key.values && record.dtypes == key.dtypes;
    bool isOfGpu = record.device.find(vendor) != std::string::npos &&
                   record.device.find("simulated") == std::string::npos;
    bool isNearer = record.device.find("(" + target + ")") != std::string::npos;
    if (isSame && isOfGpu && (isNearer || !best)) {
      best = std::move(record);
    }
  }
  if (!best) {
    return std::nullopt;
  }
  text_ = describe(best->config) + ", as tuned on " + best->device +
          "; --config names another";
  return best->config;
}

/// Has the configuration each word of "BLOCK=64 num_warps=4"?
static bool hasWords(const ConfigDescription &config,
                     const std::string &wanted) {
  std::istringstream own(describe(config)), asked(wanted);
  std::vector<std::string> words;
  for (std::string word; own >> word;) {
    words.push_back(word);
  }
  for (std::string word; asked >> word;) {
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      return false;
    }
  }
  return true;
}

Expected<size_t> ExplainChooser::choose(LaunchTrials &trials) {
  std::string all = explain::countedText(trials.size(), "configuration");
  if (!wanted.empty()) {
    std::string list;
    for (size_t i = 0; i < trials.size(); ++i) {
      if (hasWords(trials.config(i), wanted)) {
        text_ = describe(trials.config(i)) + ", as --config says, of " + all;
        return i;
      }
      list += "\n  " + describe(trials.config(i));
    }
    return {
        ErrorCode::InvalidArgument,
        "--config '" + wanted +
            "': no configuration has all of these; expected words of one of" +
            list};
  }
  std::optional<size_t> best;
  std::optional<Failure> failure;
  double leastUs = 0;
  size_t tried = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (tell &&
        !tell("configuration " + std::to_string(i + 1) + " of " +
              std::to_string(trials.size())) &&
        best) {
      break;
    }
    Status status = trials.compile(i);
    if (status.ok()) {
      status = trials.runFresh(i, [](std::span<const NamedTensor>) {});
    }
    if (!status.ok()) {
      failure = status.failure();
      if (!isOfConfig(status.failure())) {
        return status;
      }
      continue;
    }
    ++tried;
    std::optional<double> us = predictedUs();
    if (!isPredicted) {
      text_ = describe(trials.config(i)) + ", the first that compiles of " +
              all + ": no time is predicted; --config names another";
      return i;
    }
    if (us && (!best || *us < leastUs)) {
      best = i;
      leastUs = *us;
    }
  }
  if (!best) {
    return failure ? Expected<size_t>(*failure) : Expected<size_t>(size_t{0});
  }
  text_ = describe(trials.config(*best)) + ", the least predicted time of " +
          (tried < trials.size() ? std::to_string(tried) + " of " : "") + all +
          "; --config names another";
  return *best;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

Explainer::Explainer(const ExplainOptions &options)
    : options(options), chip(valueOrThrow(explain::findChip(options.chip))),
      keeper(new DecisionKeeper(createKernelCompiler())),
      chooser(std::make_shared<ExplainChooser>(options.config,
                                               std::string(chip.target))),
      context(std::unique_ptr<KernelCompiler>(keeper),
              {.cacheDirectory = "", .cacheBytes = 0, .chooser = chooser}) {
  chooser->isPredicted = !chip.isAmd();
  chooser->predictedUs = [this] {
    return report ? std::optional(report->predictedUs) : std::nullopt;
  };
  chooser->tell = [this](const std::string &what) {
    doing = what + ": ";
    report.reset();
    return !isOver();
  };
  sim::GridSample sample{
      options.programs, options.programs ? wholeCost : 0,
      [this](uint64_t ended, uint64_t all) { return goesOn(ended, all); }};
  if (chip.isAmd()) {
    gpu::simulateAndProfile(
        std::string(chip.target), sample,
        [this](const gpu::ProfiledHipLaunch &launch) { recordLaunch(launch); });
    return;
  }
  // The last launch counts: those before it are trials of @triton.autotune.
  gpu::simulateAndProfile(std::string(chip.target), sample,
                          [this](const gpu::ProfiledLaunch &launch) {
                            if (launch.profile.blocks == 0) {
                              return; // none has ended within the limit
                            }
                            subject.decisions = keeper->decisionsOf(launch.ptx);
                            report = explain::makeReport(
                                launch.program, launch.profile, launch.grid,
                                resourcesOf(launch, image), subject, chip);
                          });
}

void Explainer::recordLaunch(const gpu::ProfiledHipLaunch &launch) {
  if (launch.profile.blocks == 0) {
    return; // none has ended within the limit
  }
  subject.decisions = keeper->decisionsOf(launch.object);
  amdgpu::CodeLines lines(launch.object);
  report =
      explain::makeReport(launch.program, launch.kernel, launch.profile,
                          launch.grid, resourcesOf(launch), subject, chip,
                          [&](uint64_t address) { return lines.at(address); });
  for (const sim::amd::Line &line : sim::amd::disassemble(launch.program)) {
    SourceLocation place = lines.at(line.address);
    report->machineCode.push_back({place.file, place.line, line.text});
  }
}

/// By source line, the file of the kernel named as the report names it.
void Explainer::addMachineCode() {
  if (chip.isAmd()) {
    nameOwnFile(report->machineCode);
    return;
  }
  Expected<std::string> nvdisasm = nvptx::findNvdisasm();
  if (image.format != ImageFormat::GpuBinary) {
    Expected<std::string> ptxas = nvptx::findPtxas();
    report->noMachineCode =
        ptxas.ok() ? "ptxas did not assemble the kernel; hint: one of a newer "
                     "CUDA may, named by NEREID_PTXAS"
                   : ptxas.failure().message;
    return;
  }
  if (!nvdisasm.ok()) {
    report->noMachineCode = nvdisasm.failure().message;
    return;
  }
  auto code = nvptx::disassemble(*nvdisasm, image);
  if (!code.ok()) {
    report->noMachineCode = code.failure().message;
    return;
  }
  for (nvptx::MachineLine &one : *code) {
    if (!one.isLabel) {
      report->machineCode.push_back(
          {std::move(one.file), one.line, std::move(one.text)});
    }
  }
  nameOwnFile(report->machineCode);
}

void Explainer::nameOwnFile(std::vector<explain::MachineLine> &code) const {
  std::error_code error;
  std::string own = std::filesystem::absolute(report->location.file, error)
                        .lexically_normal();
  for (explain::MachineLine &one : code) {
    bool isOwn =
        !error && std::filesystem::path(one.file).lexically_normal() == own;
    one.file = isOwn ? report->location.file : one.file;
  }
}

bool Explainer::isOver() const {
  return options.limit > 0 && clock->secondsSince(begin) > options.limit;
}

bool Explainer::goesOn(uint64_t ended, uint64_t all) {
  std::lock_guard lock(mutex);
  line.show("explaining " + doing + std::to_string(ended) + " of " +
            std::to_string(all) + " programs");
  return !isOver();
}

explain::Report Explainer::explain(const ExplainedLaunch &launch) {
  report.reset();
  doing.clear();
  begin = clock->now();
  Device device = chip.isAmd() ? Device::hip() : Device::cuda();
  GridText grid(launch.grid);
  Kernel kernel = loadKernel(launch.kernel, options.bindings, device, context);
  RunArguments arguments =
      parseArguments(launch.arguments, device, options.seed);
  subject = {kernel.description().location,
             arraysOf(arguments),
             {},
             integersOf(arguments, kernel.description()),
             ""};
  auto gridFunction = [&](const Meta &meta) { return grid(meta); };
  std::vector<LaunchArgument> launchArguments = arguments.launchArguments();
  for (const Diagnostic &warning :
       outsideWarnings(kernel, gridFunction, launchArguments, {}, context)) {
    printDiagnostic(warning);
  }
  kernel.launch(gridFunction, launchArguments);
  Stream::current(device).synchronize();
  line.show("");
  if (!report && isOver()) {
    raise({ErrorCode::KernelFault,
           kernel.name() + ": no program has ended within the limit of " +
               options.limitText() +
               " s; expected at least one; a greater --limit waits longer",
           {}});
  }
  if (!report) {
    usageError("the grid has no programs: there is nothing to explain");
  }
  report->configuration = chooser->text();
  LaunchPreview preview = kernel.preview(gridFunction, launchArguments);
  auto asked =
      context.compiler()->countOperations(preview.request, preview.facts);
  if (asked.ok()) {
    report->asked = *asked;
  }
  if (!options.html.empty() || !options.json.empty()) {
    addMachineCode();
  } else {
    report->machineCode.clear();
  }
  return *report;
}

} // namespace nereid
