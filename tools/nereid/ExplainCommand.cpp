//===- ExplainCommand.cpp - nereid explain --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel runs on the simulated GPU (docs/Simulator.md), which counts what
// it does to memory; ptxas, where it is installed, says what a thread takes.
//
//===----------------------------------------------------------------------===//

#include "CommandProcess.h"
#include "Commands.h"
#include "KernelArguments.h"
#include "OptionText.h"

#include "nereid/Explain/Report.h"
#include "nereid/Runtime/cuda/simulated/SimulatedDriver.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Target/NVPTX/Occupancy.h"
#include "nereid/Target/NVPTX/Ptxas.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace nereid {
namespace {

struct ExplainOptions {
  std::string kernel, grid, chip = "h200", json;
  std::vector<std::string> arguments, bindings;
  uint64_t seed = 0, programs = 128;
};

/// Lines of source files, read once.
class SourceLines {
public:
  std::string operator()(const std::string &file, uint32_t line) {
    auto [found, isNew] = files.try_emplace(file);
    if (isNew) {
      if (Expected<std::string> text = readFile(file); text.ok()) {
        std::istringstream in(*text);
        for (std::string one; std::getline(in, one);) {
          found->second.push_back(one);
        }
      }
    }
    return line && line <= found->second.size() ? found->second[line - 1] : "";
  }

private:
  std::map<std::string, std::vector<std::string>> files;
};

} // namespace

/// Without ptxas, or one that knows the target, registers stay unknown.
static explain::Resources resourcesOf(const cuda::ProfiledLaunch &launch) {
  explain::Resources resources;
  resources.threads = launch.threads;
  resources.sharedBytes = launch.sharedBytes;
  KernelImage image;
  image.format = ImageFormat::GpuAssembly;
  image.kernel = image.entry = launch.program.name;
  image.target = launch.program.target;
  image.sharedBytes = launch.sharedBytes;
  image.numWarps = (launch.threads + 31) / 32;
  auto *bytes = reinterpret_cast<const std::byte *>(launch.ptx.data());
  image.code.assign(bytes, bytes + launch.ptx.size());
  Expected<std::string> ptxas = nvptx::findPtxas();
  if (!ptxas.ok() || !nvptx::assemble(*ptxas, image).ok()) {
    return resources;
  }
  resources.registers = image.numRegisters;
  resources.spillBytes = image.spillBytes;
  if (auto occupancy = nvptx::occupancyOf(image); occupancy.ok()) {
    resources.residentBlocks = occupancy->blocks;
    resources.warps = occupancy->blocks * image.numWarps;
    resources.mostWarps = occupancy->mostWarps;
    resources.limit = occupancy->limit;
  }
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

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static nlohmann::ordered_json jsonOf(const explain::AccessCost &cost) {
  return {{"file", cost.file},
          {"line", cost.line},
          {"access", explain::name(cost.kind)},
          {"space", cost.isShared ? "shared" : "global"},
          {"array", cost.array},
          {"bytes_a_thread", cost.laneBytes},
          {"thread_stride", cost.laneStride},
          {"requests", cost.requests},
          {"threads_active", cost.lanesActive},
          {"bytes", cost.bytes},
          {cost.isShared ? "passes" : "sectors", cost.units},
          {cost.isShared ? "least_passes" : "least_sectors", cost.leastUnits}};
}

static nlohmann::ordered_json jsonOf(const explain::Report &report) {
  nlohmann::ordered_json accesses = nlohmann::ordered_json::array(),
                         lines = nlohmann::ordered_json::array(),
                         hints = nlohmann::ordered_json::array();
  for (const explain::AccessCost &cost : report.accesses) {
    accesses.push_back(jsonOf(cost));
  }
  for (const explain::LineCost &cost : report.lines) {
    lines.push_back({{"file", cost.file},
                     {"line", cost.line},
                     {"instructions", cost.instructions}});
  }
  for (const explain::Hint &hint : report.hints) {
    hints.push_back(
        {{"file", hint.file}, {"line", hint.line}, {"text", hint.text}});
  }
  const explain::Resources &r = report.resources;
  return {{"kernel", report.kernel},
          {"target", report.target},
          {"chip", report.chip.name},
          {"grid", report.grid},
          {"programs", report.blocks},
          {"simulated_programs", report.simulatedBlocks},
          {"threads", r.threads},
          {"registers", r.registers},
          {"spill_bytes", r.spillBytes},
          {"shared_bytes", r.sharedBytes},
          {"resident_warps", r.warps},
          {"most_warps", r.mostWarps},
          {"occupancy_limit", r.limit},
          {"compulsory_bytes_read", report.compulsoryRead},
          {"compulsory_bytes_written", report.compulsoryWritten},
          {"moved_bytes_read", report.movedRead},
          {"moved_bytes_written", report.movedWritten},
          {"requested_bytes_read", report.requestedRead},
          {"requested_bytes_written", report.requestedWritten},
          {"instructions", report.instructions},
          {"product_operations", report.productOperations},
          {"memory_us", report.memoryUs},
          {"instructions_us", report.issueUs},
          {"products_us", report.productUs},
          {"latency_us", report.latencyUs},
          {"predicted_us", report.predictedUs},
          {"bound", explain::name(report.bound)},
          {"accesses", accesses},
          {"lines", lines},
          {"hints", hints}};
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static void explainKernel(const ExplainOptions &options) {
  explain::Chip chip = valueOrThrow(explain::findChip(options.chip));
  if (options.kernel.empty() || options.grid.empty()) {
    usageError(std::string("expected FILE:KERNEL and --grid, got ") +
               (!options.kernel.empty() ? "no --grid" : "no FILE:KERNEL"));
  }
  std::optional<explain::Report> report;
  std::vector<explain::Array> arrays;
  // The last launch: those before it are trials of @triton.autotune.
  cuda::simulateAndProfile(std::string(chip.target), options.programs,
                           [&](const cuda::ProfiledLaunch &launch) {
                             report = explain::makeReport(
                                 launch.program, launch.profile, launch.grid,
                                 resourcesOf(launch), arrays, chip);
                           });
  GridText grid(options.grid);
  Device device = Device::cuda();
  Kernel kernel = loadKernel(options.kernel, options.bindings, device);
  RunArguments arguments =
      parseArguments(options.arguments, device, options.seed);
  arrays = arraysOf(arguments);
  std::vector<LaunchArgument> launchArguments = arguments.launchArguments();
  kernel.launch([&](const Meta &meta) { return grid(meta); }, launchArguments);
  Stream::current(device).synchronize();
  if (!report) {
    usageError("the grid has no programs: there is nothing to explain");
  }
  if (!options.json.empty()) {
    writeResult(options.json, jsonOf(*report).dump(2) + "\n");
  }
  if (options.json != "-") {
    SourceLines lines;
    writeOutput(explain::reportText(
        *report, [&](const std::string &file, uint32_t line) {
          return lines(file, line);
        }));
  }
}

void addExplainCommand(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *command = app.add_subcommand(
      "explain", "Say what a launch costs on a GPU, and why, without a GPU");
  command->add_option("kernel", options->kernel, "FILE:KERNEL");
  command->add_option("arguments", options->arguments,
                      "NAME=VALUE, as of nereid run");
  command->add_option("--grid", options->grid,
                      "One to three sizes: expressions over the arguments");
  command
      ->add_option("--chip", options->chip,
                   "Whose rates are compared with: " + explain::chipNames())
      ->capture_default_str();
  command
      ->add_option("--programs", options->programs,
                   "At most so many programs are run, spread over the grid; 0: "
                   "all")
      ->check(wholeNumber(0, 1000000000))
      ->capture_default_str();
  command->add_option("--json", options->json,
                      "FILE, or - for standard output instead of the text");
  command
      ->add_option("--bind", options->bindings,
                   "NAME=VALUE: a global of the file, as of nereid run")
      ->allow_extra_args(false);
  command
      ->add_option("--seed", options->seed,
                   "Of the generators; every array has its own stream")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str();
  command->callback([options] { explainKernel(*options); });
}

} // namespace nereid
