//===- TuneWorker.cpp - The process that tunes ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneWorker.h"

#include "nereid/CommandLine/Interruption.h"
#include "tools/nereid/Commands.h"
#include "tools/nereid/KernelArguments.h"
#include "tools/nereid/TraceOption.h"

#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Tune/SearchingCompiler.h"
#include "nereid/Tune/Supervisor.h"
#include "nereid/Tune/TuningChooser.h"

#include <algorithm>
#include <unistd.h>

namespace nereid {

using namespace tune;

static SearchValues parseValues(const std::vector<std::string> &texts) {
  SearchValues values;
  for (const std::string &text : texts) {
    NamedText named = splitArgument(text);
    for (const std::string &item : splitList(named.value)) {
      std::optional<StaticValue> value = parseValue(item);
      if (!value) {
        usageError("--values " + text +
                   ": expected values with commas "
                   "between, got '" +
                   item + "'");
      }
      values[named.name].push_back(*value);
    }
  }
  return values;
}

/// Names of --values are parameters that the launch leaves open.
static void checkValues(const Kernel &kernel, const SearchValues &values) {
  std::vector<std::string> names;
  for (const ParameterDescription &parameter :
       kernel.description().parameters) {
    names.push_back(parameter.name);
  }
  for (const auto &[name, list] : values) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      usageError("--values " + name + ": expected a parameter of " +
                 kernel.name() + ", got '" + name + "'" +
                 didYouMean(name, names));
    }
  }
}

/// A worker may be one of several, and the command gathers their traces.
static std::string traceOfWorker(const TuneLaunch &launch) {
  return launch.trace.empty() || launch.folder.empty()
             ? ""
             : launch.folder + "/trace-" + std::to_string(::getpid()) + ".json";
}

void runTuneWorker(const TuneLaunch &launch, int pipe) {
  guardHostMemory();
  WorkerObserver observer(pipe);
  CommandTrace trace(traceOfWorker(launch));
  Device device = Device::parse(launch.device);
  GridText grid(launch.grid);
  RunArguments arguments =
      parseArguments(launch.arguments, device, launch.seed);
  TunerOptions options;
  options.searchValues = parseValues(launch.values);
  constexpr uint64_t usualSeconds = 60;
  uint64_t searchSeconds = launch.seconds ? launch.seconds : usualSeconds;
  options.searchSeconds =
      launch.search ? static_cast<double>(searchSeconds) : 0;
  options.limitSeconds = static_cast<double>(launch.seconds);
  options.mostRounds = launch.rounds;
  // What was measured by then is the result; the supervisor ends with the
  // signal's status.
  Interruption interruption(Interruption::Of::All);
  options.isStopped = [] { return Interruption::signal() != 0; };
  options.compileThreads = launch.compilesOneByOne ? 1 : 0;

  std::vector<std::string> given;
  for (const NamedText &text : arguments.texts) {
    given.push_back(text.name);
  }
  auto [path, name] = splitKernel(launch.kernel);
  Source source{path, valueOrThrow(readFile(path)),
                parseBindings(launch.bindings)};
  std::unique_ptr<KernelCompiler> compiler = createKernelCompiler();
  if (launch.search) {
    compiler = std::make_unique<SearchingCompiler>(std::move(compiler), given,
                                                   options.searchValues);
  }
  auto chooser = std::make_shared<TuningChooser>(options, &observer);
  chooser->again = launch.again;
  chooser->spareFolder = launch.folder;
  chooser->completes = chooser->measuresSole = chooser->saysItself = true;
  Context context(std::move(compiler), {.chooser = chooser});
  Kernel kernel =
      Kernel::fromSource(std::move(source), name, context).on(device);
  printWarnings(kernel.description());
  if (kernel.description().configs.empty()) {
    usageError(kernel.name() +
               " has no configurations to choose from; expected "
               "@triton.autotune, or --search, which tries values for the "
               "tl.constexpr parameters that are left out");
  }
  checkValues(kernel, options.searchValues);

  std::vector<LaunchArgument> launchArguments = arguments.launchArguments();
  kernel.launch([&](const Meta &meta) { return grid(meta); }, launchArguments);
  synchronize(device);
  trace.finish();
  if (!chooser->latest()) {
    usageError(kernel.name() +
               ": there is nothing to choose: the launch gives every tuned "
               "parameter; leave some out, or add --search");
  }
  const TuningChooser::Choice &choice = *chooser->latest();
  observer.finish({choice.record, choice.wasFound, choice.readyMs});
}

} // namespace nereid
