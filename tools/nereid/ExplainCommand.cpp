//===- ExplainCommand.cpp - nereid explain --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel runs on a simulated GPU (docs/Simulator.md,
// docs/amd/Simulator.md), which counts what it does to memory; ptxas, where it
// is installed, or the code object says what a thread takes.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "ExplainJson.h"
#include "Explainer.h"
#include "OptionText.h"
#include "OutsideWarnings.h"
#include "RivalText.h"
#include "SourceLines.h"
#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/Bench/Measure.h"
#include "nereid/Bench/Roofline.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fcntl.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid {
/// Microseconds on this machine's GPU, from cold caches; nothing where there is
/// none, or where it fails: then the simulator's answer is printed.
static std::optional<double> measureHere(const ExplainOptions &options,
                                         const ExplainedLaunch &launch,
                                         Device device) {
  std::vector<Device> devices = Device::available();
  if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
    return std::nullopt;
  }
  try {
    GridText grid(launch.grid);
    Kernel kernel = loadKernel(launch.kernel, options.bindings, device);
    RunArguments arguments =
        parseArguments(launch.arguments, device, options.seed);
    std::vector<LaunchArgument> launchArguments = arguments.launchArguments();
    auto run = [&](size_t) {
      kernel.launch([&](const Meta &meta) { return grid(meta); },
                    launchArguments);
    };
    auto times =
        bench::measure(device, {{launch.kernel, run}}, {.seconds = 0.3});
    return times[0].failure ? std::nullopt
                            : std::optional(times[0].ms.median * 1e3);
  } catch (const Error &) {
    return std::nullopt;
  }
}

namespace {
/// What the GPU of this machine says.
struct MeasuredHere {
  char name[128] = {}; ///< the GPU's; empty: there is none
  std::vector<std::optional<double>> us;
};
} // namespace

/// In a process of its own, since this one's GPU is going to be simulated.
static MeasuredHere measureApart(const ExplainOptions &options,
                                 const std::vector<ExplainedLaunch> &launches,
                                 Device device) {
  MeasuredHere here;
  here.us.resize(launches.size());
  int ends[2];
  const std::string &driver = device.kind() == Device::Kind::Hip
                                  ? knobs().hipDriver
                                  : knobs().cudaDriver;
  if (driver == "simulator" || ::pipe(ends)) {
    return here;
  }
  pid_t child = ::fork();
  if (child == 0) {
    int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    std::vector<Device> devices = Device::available();
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      bench::nameOf(device).copy(here.name, sizeof(here.name) - 1);
    }
    if (::write(ends[1], here.name, sizeof(here.name)) != sizeof(here.name)) {
      ::_exit(0);
    }
    for (const ExplainedLaunch &launch : launches) {
      double us = measureHere(options, launch, device).value_or(0);
      if (::write(ends[1], &us, sizeof(us)) != sizeof(us)) {
        break;
      }
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  double us = 0;
  bool isThere = child > 0 && ::read(ends[0], here.name, sizeof(here.name)) ==
                                  sizeof(here.name);
  for (std::optional<double> &one : here.us) {
    if (!isThere || ::read(ends[0], &us, sizeof(us)) != sizeof(us)) {
      break; // it has crashed
    }
    one = us > 0 ? std::optional(us) : std::nullopt;
  }
  ::close(ends[0]);
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
  return here;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// "b.py:mean x=randn:f32[8] --grid 4". What it does not say is as of `ours`:
/// the grid, and arguments that are parameters of its kernel.
static ExplainedLaunch parseAgainst(const std::string &text,
                                    const ExplainedLaunch &ours,
                                    const ExplainOptions &options) {
  RivalText rival = parseRival(text);
  ExplainedLaunch launch{rival.what,
                         rival.grid.empty() ? ours.grid : rival.grid,
                         rival.arguments, rival.label};
  std::set<std::string> given;
  for (const std::string &word : rival.arguments) {
    given.insert(splitArgument(word).name);
  }
  auto [path, name] = splitKernel(launch.kernel);
  Source source{path, valueOrThrow(readFile(path)),
                parseBindings(options.bindings)};
  KernelDescription described =
      valueOrThrow(createKernelCompiler()->describe(source, name));
  for (const std::string &argument : ours.arguments) {
    std::string name = splitArgument(argument).name;
    bool isParameter = std::any_of(
        described.parameters.begin(), described.parameters.end(),
        [&](const ParameterDescription &p) { return p.name == name; });
    if (isParameter && !given.count(name)) {
      launch.arguments.push_back(argument);
    }
  }
  return launch;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static void tell(const ExplainOptions &options, const explain::Side &ours,
                 const explain::Side &theirs) {
  SourceLines lines;
  auto source = [&](const std::string &file, uint32_t line) {
    return lines(file, line);
  };
  bool compares = !theirs.launches.empty();
  if (!options.json.empty()) {
    nlohmann::ordered_json json = {{"made",
                                    {{"date", dateText()},
                                     {"program", "nereid " NEREID_VERSION},
                                     {"command", commandLine()}}}};
    json.update(jsonOf(ours.launches[0]));
    for (const explain::Report &report : theirs.launches) {
      json["against"].push_back(jsonOf(report));
    }
    // Tools of others may print any bytes.
    using Handler = nlohmann::ordered_json::error_handler_t;
    writeResult(options.json,
                json.dump(2, ' ', false, Handler::replace) + "\n");
  }
  if (!options.html.empty()) {
    writeResult(options.html,
                explain::reportHtml(ours, theirs, source,
                                    "nereid " NEREID_VERSION ", " + dateText() +
                                        ": " + commandLine()));
  }
  if (options.json != "-" && options.html != "-") {
    writeOutput(compares ? explain::comparisonText(ours, theirs)
                         : explain::reportText(ours.launches[0], source));
  }
}

static void explainKernel(const ExplainOptions &given) {
  ExplainOptions options = given;
  if (options.kernel.empty() || options.grid.empty()) {
    usageError(std::string("expected FILE:KERNEL and --grid, got ") +
               (!options.kernel.empty() ? "no --grid" : "no FILE:KERNEL"));
  }
  if (options.json == "-" && options.html == "-") {
    usageError(
        "expected one of --json and --html on standard output, got both");
  }
  Device device = Device::cuda();
  if (!options.chip.empty() &&
      valueOrThrow(explain::findChip(options.chip)).isAmd()) {
    device = Device::hip();
  }
  OutputFiles outputs;
  for (const auto &[option, path] :
       {std::pair("--json", options.json), std::pair("--html", options.html)}) {
    if (!path.empty() && path != "-") {
      throwIfFailed(outputs.add(option, path));
    }
  }
  std::vector<ExplainedLaunch> launches = {
      {options.kernel, options.grid, options.arguments, ""}};
  for (const std::string &text : options.against) {
    launches.push_back(parseAgainst(text, launches[0], options));
  }
  MeasuredHere measured = measureApart(options, launches, device);
  if (options.chip.empty()) {
    auto chip = explain::chipOfGpu(measured.name);
    options.chip = chip ? chip->name : "h200";
  }
  Explainer explainer(options);
  explain::Side ours{options.kernel, {}}, theirs{"", {}};
  for (size_t i = 0; i < launches.size(); ++i) {
    explain::Report report = explainer.explain(launches[i]);
    report.measuredUs = measured.us[i];
    (i ? theirs : ours).launches.push_back(std::move(report));
    if (i) {
      const ExplainedLaunch &launch = launches[i];
      theirs.name += (i > 1 ? " + " : "") +
                     (launch.label.empty() ? launch.kernel : launch.label);
    }
  }
  tell(options, ours, theirs);
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
  command->add_option(
      "--chip", options->chip,
      "Whose rates are compared with: " + explain::chipNames() +
          "; without it that of this machine, if it is one of them, else h200");
  command
      ->add_option(
          "--programs", options->programs,
          "Of grids that take seconds at most so many programs are run, spread "
          "over the grid, and fewer where they take long; 0: all")
      ->check(wholeNumber(0, 1000000000))
      ->capture_default_str();
  command->add_option("--config", options->config,
                      "'NAME=VALUE num_warps=N ...': of @triton.autotune, the "
                      "configuration with these; without it what a tuner has "
                      "kept for a GPU, else the least predicted time");
  command
      ->add_option("--limit", options->limit,
                   "Seconds of a launch on the simulator, after which it is "
                   "explained by the programs that have ended; 0: none")
      ->check(finiteFromZero())
      ->capture_default_str();
  command->add_option("--json", options->json,
                      "FILE, or - for standard output instead of the text");
  command->add_option(
      "--html", options->html,
      "FILE, or -: a page with the source, its costs and, where "
      "there are ptxas and nvdisasm, its machine code");
  command
      ->add_option("--against", options->against,
                   "'FILE:KERNEL NAME=VALUE... --grid SIZES': another kernel "
                   "to compare with; several are a chain. What it does not say "
                   "is as of the first")
      ->allow_extra_args(false);
  addBindOption(*command, options->bindings);
  addSeedOption(*command, options->seed);
  command->callback([options] { explainKernel(*options); });
}

} // namespace nereid
