//===- RunCommand.cpp - nereid run ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentText.h"
#include "Commands.h"
#include "KernelArguments.h"
#include "LaunchFile.h"
#include "OptionText.h"
#include "OutsideWarnings.h"
#include "TraceOption.h"
#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/Bench/Measure.h"
#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "tools/check/DeviceCheck.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

namespace nereid {
namespace {

struct RunOptions {
  std::string kernel, device = "cpu", grid;
  std::vector<std::string> arguments, outputs, prints, bindings;
  uint64_t seed = 0;
  bool time = false;
  std::string check; ///< empty: no
  int repeat = 0;
  double tolerance = 0;
  std::vector<std::string> launches;
  std::string results, trace;
};

} // namespace

/// Runs until `repeat` times, or for a third of a second.
static void printTimes(const std::string &name, Device device, int repeat,
                       const std::function<void()> &launch) {
  std::vector<double> times;
  double total = 0;
  while (repeat ? static_cast<int>(times.size()) < repeat
                : times.size() < 3 || (total < 333 && times.size() < 10000)) {
    times.push_back(bench::runMs(device, launch));
    total += times.back();
  }
  bench::Summary ms = bench::summarize(times);
  std::printf("%s: median %.4g ms, fastest %.4g ms, slowest %.4g ms, %zu "
              "launches\n",
              name.c_str(), ms.median, ms.least,
              *std::max_element(times.begin(), times.end()), ms.samples);
}

/// At most the first and last three elements: only they are converted.
static void printTensor(const std::string &name, const Tensor &tensor) {
  std::printf("%s: %s", name.c_str(), tensor.str().c_str());
  auto print = [&](const Tensor &part) {
    for (double value : part.toFloat64()) {
      std::printf(" %.9g", value);
    }
  };
  constexpr int64_t each = 3;
  if (tensor.numel() <= 2 * each) {
    print(tensor);
  } else {
    Tensor flat = tensor.flatten();
    print(flat.slice(0, 0, each));
    std::printf(" ...");
    print(flat.slice(0, flat.numel() - each));
  }
  std::printf("\n");
}

/// (name, path) of every --out. Checked before anything runs.
static std::vector<std::pair<std::string, std::string>>
parseOutputs(const RunOptions &options, const RunArguments &arguments,
             OutputFiles &files) {
  std::vector<std::pair<std::string, std::string>> outputs;
  for (const std::string &text : options.outputs) {
    NamedText output = splitArgument(text);
    arguments.tensor(output.name);
    throwIfFailed(files.add("--out " + output.name, output.value));
    outputs.emplace_back(output.name, output.value);
  }
  for (const std::string &name : options.prints) {
    arguments.tensor(name);
  }
  return outputs;
}

/// A bare --check is CLI11's "true".
static void requireReference(const std::string &check) {
  if (!check.empty() && check != "true" && check != "interp") {
    usageError("--check '" + check +
               "': expected interp, which all others are compared with");
  }
}

static void checkOrFail(const check::CheckedLaunch &launch,
                        const std::string &kernel) {
  check::CheckReport report = check::checkLaunch(launch);
  writeOutput(report.text());
  if (!report.passed()) {
    raise({ErrorCode::KernelFault, kernel + ": the devices disagree", {}});
  }
}

static void runKernel(const RunOptions &options) {
  if (options.kernel.empty() || options.grid.empty()) {
    usageError(std::string("expected FILE:KERNEL and --grid, or --launch "
                           "FILE, got ") +
               (!options.kernel.empty() ? "no --grid"
                : !options.grid.empty() ? "no FILE:KERNEL"
                                        : "neither"));
  }
  requireReference(options.check);
  Device device = Device::parse(options.device);
  GridText grid(options.grid);
  OutputFiles files;
  requireTrace(files, options.trace);
  CommandTrace trace(options.trace);
  Kernel kernel = loadKernel(options.kernel, options.bindings, device);
  RunArguments arguments =
      parseArguments(options.arguments, device, options.seed);
  auto outputs = parseOutputs(options, arguments, files);
  std::vector<LaunchArgument> launchArguments = arguments.launchArguments();
  auto gridFunction = [&](const Meta &meta) { return grid(meta); };

  if (!options.check.empty()) {
    check::CheckedLaunch checked;
    checked.load = [&](Context &context) {
      auto [path, name] = splitKernel(options.kernel);
      return Kernel::load(path, name, context);
    };
    checked.grid = gridFunction;
    checked.arguments = launchArguments;
    checked.tolerance = options.tolerance;
    checkOrFail(checked, kernel.name());
  }
  for (const Diagnostic &warning :
       outsideWarnings(kernel, gridFunction, launchArguments)) {
    printDiagnostic(warning);
  }
  auto launch = [&] { kernel.launch(gridFunction, launchArguments); };
  double firstMs = bench::clockMs(device, launch);
  for (const auto &[array, file] : outputs) {
    saveNpy(file, arguments.tensor(array));
  }
  for (const std::string &array : options.prints) {
    printTensor(array, arguments.tensor(array));
  }
  if (options.time || options.repeat) {
    std::printf("%s on %s, grid %s: first launch, with loading, %.4g ms\n",
                kernel.name().c_str(), device.str().c_str(),
                grid.lastGrid().c_str(), firstMs);
    printTimes(kernel.name(), device, options.repeat, launch);
  }
  trace.finish();
}

void addRunCommand(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand(
      "run", "Run a kernel on generated arrays or .npy files");
  command->add_option("kernel", options->kernel, "FILE:KERNEL");
  command->add_option(
      "arguments", options->arguments,
      "NAME=VALUE for every parameter without a default, and for launch "
      "options (num_warps=8). A value is @file.npy, @file.npy:bf16, "
      "randn:f32[4096,4096] (rand, randn, arange, zeros, empty, full:VALUE, "
      "randint:LOW:HIGH), a number, true, false, none, a \"quoted\" string, "
      "or a dtype");
  command->add_option(
      "--grid", options->grid,
      "One to three sizes: expressions over the arguments, as in "
      "'cdiv(n, BLOCK_SIZE)'");
  CLI::Option *device =
      command
          ->add_option("--device", options->device,
                       "cpu, interp, cuda:0, cuda:1, hip:0, ...")
          ->capture_default_str();
  command
      ->add_option("--out", options->outputs,
                   "NAME=FILE.npy: write an array after the launch")
      ->allow_extra_args(false);
  command
      ->add_option("--print", options->prints,
                   "NAME: print some elements of an array after the launch")
      ->allow_extra_args(false);
  command
      ->add_option("--bind", options->bindings,
                   "NAME=VALUE: a global of the file, where its own value "
                   "cannot be evaluated or is not the wanted one; of another "
                   "module as module.NAME=VALUE")
      ->allow_extra_args(false);
  addSeedOption(*command, options->seed);
  command->add_flag("--check", options->check,
                    "Also run on every kind of device and compare each element "
                    "with the reference executor, within the error bound of "
                    "its computation. --check interp is the same");
  command
      ->add_option("--tolerance", options->tolerance,
                   "Of --check: allowed beyond the bounds, relative to an "
                   "array's largest element")
      ->check(finiteFromZero());
  command->add_flag("--time", options->time, "Print milliseconds a launch");
  command->add_option("--repeat", options->repeat, "Launches to time")
      ->check(wholeNumber(1, 1000000000));
  addTraceOption(*command, options->trace);
  CLI::Option *launch = command->add_option(
      "--launch", options->launches,
      "FILE.json: launches as docs/LaunchFile.md describes them, instead of "
      "FILE:KERNEL; several files, lists and .jsonl files give one line of "
      "JSON a launch, and '-' reads such lines");
  command
      ->add_option("--results", options->results,
                   "Of --launch: file for the lines of JSON")
      ->needs(launch);
  for (const char *name : {"kernel", "arguments", "--grid", "--out", "--print",
                           "--seed", "--time", "--repeat"}) {
    launch->excludes(name);
  }
  command->callback([options, device] {
    guardHostMemory();
    if (options->launches.empty()) {
      runKernel(*options);
      return;
    }
    requireReference(options->check);
    LaunchFileOptions files{options->launches,  std::nullopt,
                            options->results,   !options->check.empty(),
                            options->tolerance, {}};
    if (device->count()) {
      files.device = options->device;
    }
    OutputFiles outputs;
    requireTrace(outputs, options->trace);
    if (!options->results.empty() && options->trace == options->results) {
      usageError("--results: expected a file of its own, got '" +
                 options->results + "', which --trace names, too");
    }
    CommandTrace trace(options->trace);
    int code = runLaunchFiles(files);
    trace.finish();
    if (code) {
      throw CLI::RuntimeError(code);
    }
  });
}

} // namespace nereid
