//===- BenchCommand.cpp - nereid bench ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandProcess.h"
#include "Commands.h"
#include "CountedWork.h"
#include "OptionText.h"
#include "ShippedKernels.h"

#include "nereid/Bench/Report.h"
#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Runtime/launch/LaunchOptions.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace nereid {
namespace {

struct BenchOptions {
  std::string kernel, device = "cpu", grid, roofline = "kept";
  std::vector<std::string> arguments, varied, against, bindings;
  std::string csv, json, svg, html;
  uint64_t seed = 0, programs = 128;
  double seconds = 0.5;
  bool isWarm = false, isTimesOnly = false;
};

/// The last line of a terminal on standard error; nothing elsewhere.
class ProgressLine {
public:
  ~ProgressLine() { show(""); }
  void show(const std::string &text) const {
    if (isTerminal) {
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
    }
  }

private:
  const bool isTerminal = ::isatty(STDERR_FILENO);
};

} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static bool isGiven(const std::vector<std::string> &arguments,
                    const std::string &name) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string &text) {
                       return splitArgument(text).name == name;
                     });
}

static bool takes(const Kernel &kernel, const std::string &name) {
  const auto &parameters = kernel.description().parameters;
  auto options = launchOptionNames();
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const auto &p) { return p.name == name; }) ||
         std::find(options.begin(), options.end(), name) != options.end();
}

/// A variable with the name of a parameter or option is its argument.
static void passVariables(LaunchText &launch,
                          const std::vector<Variable> &variables) {
  for (const Variable &variable : variables) {
    if (takes(launch.kernel, variable.name) &&
        !isGiven(launch.arguments, variable.name)) {
      launch.arguments.push_back(variable.name + "=" + variable.name);
    }
  }
}

static bool isUsed(const std::string &name, const LaunchText &launch) {
  return mentions(launch.grid, name) ||
         std::any_of(launch.arguments.begin(), launch.arguments.end(),
                     [&](const std::string &text) {
                       return mentions(splitArgument(text).value, name);
                     });
}

static void requireUse(const BenchPlan &plan) {
  for (const Variable &variable : plan.variables) {
    bool used = std::any_of(
        plan.arrays.begin(), plan.arrays.end(),
        [&](const std::string &text) { return mentions(text, variable.name); });
    std::vector<std::string> names;
    for (const ProviderText &provider : plan.providers) {
      for (const LaunchText &launch : provider.launches) {
        used |= isUsed(variable.name, launch);
        for (const auto &parameter : launch.kernel.description().parameters) {
          names.push_back(parameter.name);
        }
      }
    }
    if (!used) {
      usageError("--vary " + variable.name + ": nothing uses '" +
                 variable.name + "': expected a parameter of " +
                 plan.providers[0].launches[0].kernel.name() +
                 ", a launch option, or a name that an argument or the grid "
                 "mentions, as in 'x=randn:f32[4096," +
                 variable.name + "]'" + didYouMean(variable.name, names));
    }
  }
}

/// "other.py:kernel BLOCK=64 --grid=cdiv(n,64)": what is not said is as of
/// `main`, as far as the kernel takes it.
static ProviderText parseRival(const std::string &text,
                               const BenchOptions &options,
                               const ProviderText &main) {
  bool isDevice = text == "interp" || text == "cpu" ||
                  (text.starts_with("cuda") && text.find('.') == text.npos);
  if (isDevice) {
    ProviderText rival = main;
    rival.name = text;
    rival.device = Device::parse(text);
    return rival;
  }
  std::istringstream words(text);
  std::string file;
  words >> file;
  LaunchText launch{loadKernel(file, options.bindings, main.device),
                    {},
                    main.launches[0].grid};
  constexpr std::string_view gridOption = "--grid=";
  for (std::string word; words >> word;) {
    if (word.starts_with(gridOption)) {
      launch.grid = word.substr(gridOption.size());
    } else {
      splitArgument(word); // or an error
      launch.arguments.push_back(word);
    }
  }
  for (const std::string &argument : main.launches[0].arguments) {
    std::string name = splitArgument(argument).name;
    if (takes(launch.kernel, name) && !isGiven(launch.arguments, name)) {
      launch.arguments.push_back(argument);
    }
  }
  return {text, main.device, {launch}};
}

static void replaceVariables(BenchPlan &plan, const BenchOptions &options) {
  std::vector<std::string> texts = options.varied, names;
  texts.insert(texts.end(), options.arguments.begin(), options.arguments.end());
  for (const Variable &variable : plan.variables) {
    names.push_back(variable.name);
  }
  std::string list;
  for (const std::string &name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  for (const std::string &text : texts) {
    Variable given = parseVariable(text);
    auto known = std::find(names.begin(), names.end(), given.name);
    if (known == names.end()) {
      usageError("--vary " + text + ": expected one of the variables of " +
                 options.kernel + ", " + list + ", got '" + given.name + "'" +
                 didYouMean(given.name, names));
    }
    plan.variables[size_t(known - names.begin())] = given;
  }
}

/// Devices are asked for later: `device` is one of the right kind.
static BenchPlan makePlan(const BenchOptions &options, Device device) {
  if (options.kernel.empty()) {
    usageError("expected FILE:KERNEL, or one of layer_norm, softmax, matmul, "
               "vector_add, got neither");
  }
  if (std::optional<BenchPlan> shipped = shippedPlan(options.kernel, device)) {
    if (!options.grid.empty()) {
      usageError("--grid: " + options.kernel + " has its own");
    }
    replaceVariables(*shipped, options);
    return *shipped;
  }
  if (options.kernel.find_first_of(":/.") == std::string::npos) {
    std::vector<std::string> names = shippedNames();
    usageError("expected FILE:KERNEL, or one of layer_norm, softmax, matmul, "
               "vector_add, got '" +
               options.kernel + "'" + didYouMean(options.kernel, names));
  }
  if (options.grid.empty()) {
    usageError("expected FILE:KERNEL and --grid, got no --grid");
  }
  BenchPlan plan;
  for (const std::string &text : options.varied) {
    plan.variables.push_back(parseVariable(text));
  }
  Kernel kernel = loadKernel(options.kernel, options.bindings, device);
  plan.title = kernel.name();
  plan.providers = {
      {kernel.name(), device, {{kernel, options.arguments, options.grid}}}};
  return plan;
}

static void addRivals(BenchPlan &plan, const BenchOptions &options) {
  size_t own = plan.providers.size();
  for (const std::string &text : options.against) {
    plan.providers.push_back(parseRival(text, options, plan.providers[0]));
  }
  for (ProviderText &provider : plan.providers) {
    for (LaunchText &launch : provider.launches) {
      passVariables(launch, plan.variables);
    }
  }
  if (plan.providers.size() > own && plan.baseline.empty()) {
    plan.baseline = plan.providers[own].name;
  }
  for (size_t i = own; i < plan.providers.size(); ++i) {
    if (plan.reference.empty() ||
        plan.providers[i].device == Device::interp()) {
      plan.reference = plan.providers[i].name;
    }
  }
}

//===----------------------------------------------------------------------===//
// A point
//===----------------------------------------------------------------------===//

/// So many elements are compared of what has more.
static constexpr int64_t mostCompared = int64_t{1} << 24;

static std::vector<double> leading(const Tensor &tensor, int64_t count) {
  return tensor.flatten().slice(0, 0, count).toFloat64();
}

static double largestDifference(const std::vector<double> &a,
                                const std::vector<double> &b) {
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    bool isSame = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    double off = isSame ? 0 : std::fabs(a[i] - b[i]);
    largest = std::isnan(off) ? INFINITY : std::max(largest, off);
  }
  return largest;
}

namespace {

/// Times every provider at one point.
class PointBench {
public:
  PointBench(const BenchPlan &plan, const BenchOptions &options,
             const VariableValues &values);
  std::vector<bench::Row> run(const std::function<void(double)> &progress);

private:
  /// Of one device.
  struct Side {
    std::unique_ptr<PointArrays> arrays;
    std::unique_ptr<bench::Measurement> measurement;
    /// What the first provider writes, as it was before.
    std::map<std::string, Tensor> before;
    size_t providers = 0;
  };
  struct Entry {
    Side *side;
    std::unique_ptr<BoundProvider> bound;
    size_t contender = 0;
    std::vector<double> results;
  };
  void bind(const ProviderText &provider);
  void runOnce(const ProviderText &provider, Entry &entry);
  std::vector<double> resultsOf(const Entry &entry) const;
  std::optional<double> differenceOf(size_t index) const;

  const BenchPlan &plan;
  const BenchOptions &options;
  const VariableValues &values;
  std::map<std::string, Side> sides; ///< by device
  std::vector<Entry> entries;
  std::vector<std::string> written;
};

} // namespace

PointBench::PointBench(const BenchPlan &plan, const BenchOptions &options,
                       const VariableValues &values)
    : plan(plan), options(options), values(values) {
  for (const ProviderText &provider : plan.providers) {
    bind(provider);
  }
}

void PointBench::bind(const ProviderText &provider) {
  Side &side = sides[provider.device.str()];
  Side &main = sides[plan.providers[0].device.str()];
  if (!side.arrays) {
    bool isMain = &side == &main;
    side.arrays =
        std::make_unique<PointArrays>(values, provider.device, options.seed,
                                      isMain ? nullptr : main.arrays.get());
    if (isMain) {
      side.arrays->add(plan.arrays);
    }
  }
  ++side.providers;
  entries.push_back(
      {&side, std::make_unique<BoundProvider>(provider, *side.arrays), 0, {}});
}

/// The run that compiles is also the one whose results are looked at.
void PointBench::runOnce(const ProviderText &provider, Entry &entry) {
  Side &side = *entry.side;
  for (const auto &[key, tensor] : side.before) {
    side.arrays->get(key).copyFrom(tensor);
  }
  entry.contender = side.measurement->add(
      {provider.name, [&entry](size_t turn) { entry.bound->run(turn); }});
  if (!side.measurement->times(entry.contender).failure) {
    entry.results = resultsOf(entry);
  }
}

std::vector<double> PointBench::resultsOf(const Entry &entry) const {
  if (plan.exact) {
    return leading(entry.side->arrays->get(plan.output), mostCompared);
  }
  std::vector<double> results;
  for (const std::string &key :
       plan.reference.empty() ? std::vector<std::string>() : written) {
    std::vector<double> more =
        leading(entry.side->arrays->get(key), mostCompared);
    results.insert(results.end(), more.begin(), more.end());
  }
  return results;
}

std::optional<double> PointBench::differenceOf(size_t index) const {
  const Entry &entry = entries[index];
  if (entry.results.empty()) {
    return std::nullopt;
  }
  if (plan.exact) {
    return largestDifference(entry.results,
                             plan.exact(*entries[0].side->arrays));
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    if (plan.providers[i].name == plan.reference && i != index &&
        !entries[i].results.empty()) {
      return largestDifference(entry.results, entries[i].results);
    }
  }
  return std::nullopt;
}

std::vector<bench::Row>
PointBench::run(const std::function<void(double)> &progress) {
  bench::MeasureOptions measuring;
  measuring.caches = options.isWarm ? bench::Caches::Warm : bench::Caches::Cold;
  measuring.progress = progress;
  // A failure is the contender's own, and told by it.
  try {
    written = entries[0].bound->written();
  } catch (const Error &) {
  }
  for (auto &[device, side] : sides) {
    measuring.seconds = options.seconds * double(side.providers);
    if (!options.isWarm) {
      side.arrays->makeSets();
    }
    side.measurement =
        std::make_unique<bench::Measurement>(side.arrays->device, measuring);
    if (entries.size() > 1) {
      for (const std::string &key : written) {
        if (side.arrays->has(key)) {
          side.before.emplace(key, side.arrays->get(key).clone());
        }
      }
    }
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    runOnce(plan.providers[i], entries[i]);
  }
  std::vector<std::optional<double>> differences;
  for (size_t i = 0; i < entries.size(); ++i) {
    differences.push_back(differenceOf(i));
  }
  for (auto &[device, side] : sides) {
    side.measurement->run();
  }
  std::vector<bench::Row> rows;
  for (size_t i = 0; i < entries.size(); ++i) {
    bench::Row row{{},
                   entries[i].side->measurement->times(entries[i].contender)};
    row.maxDifference = differences[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static std::string textOf(const VariableValues &values) {
  std::string text;
  for (const auto &[name, value] : values) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  }
  return text;
}

/// Variables with one value stand in the title.
static std::vector<size_t> shownVariables(BenchPlan &plan) {
  std::vector<size_t> shown;
  for (size_t i = 0; i < plan.variables.size(); ++i) {
    if (plan.variables[i].values.size() > 1) {
      shown.push_back(i);
    } else {
      plan.title +=
          ", " + plan.variables[i].name + "=" + plan.variables[i].values[0];
    }
  }
  return shown;
}

static void addNotes(bench::Report &report, const BenchPlan &plan,
                     const BenchOptions &options,
                     const std::optional<Failure> &uncounted) {
  auto note = [&](const std::string &text) { report.notes.push_back(text); };
  note(std::string("time: median of ") +
       (options.isWarm ? "runs with warm caches"
                       : "single runs with cold caches") +
       "; spread: the distance of the quartiles.");
  if (uncounted) {
    note("Bytes and operations could not be counted: " + uncounted->message);
  }
  auto has = [&](auto isSo) {
    return std::any_of(
        report.rows.begin(), report.rows.end(),
        [&](const bench::Row &row) { return row.work && isSo(*row.work); });
  };
  if (has([](const bench::Work &) { return true; })) {
    note("bandwidth and rate: bytes that the launch touches, each counted "
         "once, and operations" +
         (has([](const bench::Work &work) { return work.isSample; })
              ? ", as " + std::to_string(options.programs) +
                    " programs of the grid tell."
              : std::string(".")));
  }
  if (report.roofline) {
    note("roofline: the least time of these bytes from memory and of these "
         "operations, on this device, by the time.");
  }
  if (!report.baseline.empty()) {
    note("speed-up: " + report.baseline + "'s time by the provider's.");
  }
  if (!report.reference.empty()) {
    note("max diff: from " + report.reference + ".");
  }
}

static void writeReport(const BenchOptions &options,
                        const bench::Report &report) {
  bool printsTable = true;
  for (auto [path, text] : {std::pair(&options.csv, &bench::csvText),
                            {&options.json, &bench::jsonText},
                            {&options.svg, &bench::svgText},
                            {&options.html, &bench::htmlText}}) {
    if (!path->empty()) {
      writeResult(*path, text(report));
      printsTable &= *path != "-";
    }
  }
  if (printsTable) {
    writeOutput(bench::tableText(report));
  }
}

static void requireOutputs(const BenchOptions &options) {
  OutputFiles files;
  for (auto [option, path] : {std::pair("--csv", &options.csv),
                              {"--json", &options.json},
                              {"--svg", &options.svg},
                              {"--html", &options.html}}) {
    if (!path->empty() && *path != "-") {
      throwIfFailed(files.add(option, *path));
    }
  }
}

/// A fault of a kernel ends the work of its GPU in this process.
static bool endsDevice(const bench::Row &row, Device device) {
  return row.times.failure && !device.isHost() &&
         row.times.failure->code == ErrorCode::KernelFault;
}

static int runBench(const BenchOptions &options) {
  requireOutputs(options);
  bool isHost = !options.device.starts_with("cuda");
  BenchPlan plan = makePlan(options, isHost ? Device::parse(options.device)
                                            : Device::cuda());
  std::vector<size_t> shown = shownVariables(plan);
  std::vector<VariableValues> points = pointsOf(plan.variables);
  passVariables(plan.providers[0].launches[0], plan.variables);
  std::optional<WorkCounter> counter;
  if (!options.isTimesOnly) {
    counter.emplace(plan, points, options.programs, options.seed);
  }

  Device device = Device::parse(options.device);
  for (ProviderText &provider : plan.providers) {
    provider.device = device;
  }
  addRivals(plan, options);
  requireUse(plan);
  ProgressLine line;
  std::vector<std::optional<bench::Work>> counted(points.size());
  std::optional<Failure> uncounted;
  for (size_t i = 0; counter && i < points.size(); ++i) {
    line.show("counting " + textOf(points[i]));
    if (Expected<bench::Work> work = counter->next(); work.ok()) {
      counted[i] = *work;
    } else if (!uncounted) {
      uncounted = work.failure();
    }
  }
  bench::Report report;
  report.title = plan.title;
  report.device = device.str() + " (" + bench::nameOf(device) + ")";
  report.baseline = plan.baseline;
  report.reference = plan.exact ? "float64" : plan.reference;
  for (size_t i : shown) {
    report.variables.push_back(plan.variables[i].name);
  }
  bool isSimulated = !isHost && knobs().cudaDriver == "simulator";
  if (options.roofline != "none" && device != Device::interp() &&
      !isSimulated) {
    report.roofline = bench::rooflineOf(
        device, options.roofline == "again", [&](const std::string &what) {
          line.show("measuring the roofline of " + device.str() + ": " + what);
        });
  }
  bool isMainBroken = true, hasFailed = false;
  for (size_t i = 0; i < points.size(); ++i) {
    std::string head = "[" + std::to_string(i + 1) + "/" +
                       std::to_string(points.size()) + "] " + textOf(points[i]);
    line.show(head);
    PointBench point(plan, options, points[i]);
    std::vector<bench::Row> rows = point.run([&](double share) {
      line.show(head + ": " + std::to_string(int(100 * share)) + " %");
    });
    for (bench::Row &row : rows) {
      for (size_t variable : shown) {
        row.point.push_back(points[i][variable].second);
      }
      row.work = counted[i];
    }
    const bench::Row &main = rows[0];
    if (main.times.failure && (isMainBroken && i == 0) &&
        main.times.failure->code == ErrorCode::InvalidArgument) {
      raise(*main.times.failure);
    }
    isMainBroken &= main.times.failure.has_value();
    hasFailed |= main.times.failure.has_value();
    bool ends = endsDevice(main, device);
    report.rows.insert(report.rows.end(), rows.begin(), rows.end());
    if (ends) {
      report.notes.push_back(device.str() +
                             " does no more after this fault: the points "
                             "behind it are not measured.");
      break;
    }
  }
  line.show("");
  if (isMainBroken) {
    raise(*report.rows[0].times.failure);
  }
  addNotes(report, plan, options, uncounted);
  writeReport(options, report);
  return hasFailed;
}

void addBenchCommand(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand(
      "bench",
      "Time a kernel over sizes, beside others and the machine's limits");
  command->add_option("kernel", options->kernel,
                      "FILE:KERNEL, or one of layer_norm, softmax, matmul, "
                      "vector_add, which nereid brings along");
  command->add_option("arguments", options->arguments,
                      "NAME=VALUE, as of nereid run; shapes, dtypes and values "
                      "may name variables, as in 'x=randn:dtype[4096,2*N]'. Of "
                      "a kernel that nereid brings: VARIABLE=VALUE");
  command->add_option("--grid", options->grid,
                      "One to three sizes: expressions over arguments and "
                      "variables");
  command
      ->add_option("--vary", options->varied,
                   "NAME=256..32768*2, NAME=1..9+2 or NAME=VALUE,VALUE: a "
                   "variable. The first one is the x axis")
      ->allow_extra_args(false);
  command
      ->add_option("--against", options->against,
                   "A device (interp), or 'FILE:KERNEL NAME=VALUE --grid=...': "
                   "timed beside; what is not said is as of the kernel")
      ->allow_extra_args(false);
  command
      ->add_option("--device", options->device,
                   "cpu, interp, or cuda:0, cuda:1, ...")
      ->capture_default_str();
  command
      ->add_option("--seconds", options->seconds,
                   "Of measuring, for each provider at each point")
      ->check(finiteFromZero())
      ->capture_default_str();
  command->add_flag("--warm", options->isWarm,
                    "Caches hold what the run before left. Without it they "
                    "hold nothing of the arrays");
  command->add_flag("--times-only", options->isTimesOnly,
                    "Count neither bytes nor operations, and leave the "
                    "roofline out");
  command->add_option("--csv", options->csv, "FILE, or - for standard output");
  command->add_option("--json", options->json, "FILE, or -");
  command->add_option("--svg", options->svg, "FILE, or -: plots");
  command->add_option("--html", options->html,
                      "FILE, or -: plots to zoom into, and the table");
  command
      ->add_option("--roofline", options->roofline,
                   "kept: measured once for each device, driver and build; "
                   "again; none")
      ->check(CLI::IsMember({"kept", "again", "none"}))
      ->capture_default_str();
  command
      ->add_option("--programs", options->programs,
                   "Bytes and operations are counted from so many programs of "
                   "the grid; 0: all")
      ->check(wholeNumber(0, 1000000000))
      ->capture_default_str();
  command
      ->add_option("--bind", options->bindings,
                   "NAME=VALUE: a global of the file, as of nereid run")
      ->allow_extra_args(false);
  command
      ->add_option("--seed", options->seed,
                   "Of the generators; every array has its own stream")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str();
  command->callback([options] {
    guardHostMemory();
    if (int status = runBench(*options)) {
      throw CLI::RuntimeError(status);
    }
  });
}

} // namespace nereid
