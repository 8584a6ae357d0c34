//===- BenchCommand.cpp - nereid bench ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "CountedWork.h"
#include "OptionText.h"
#include "PointTimes.h"
#include "ProgressLine.h"
#include "TraceOption.h"
#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/Interruption.h"

#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace nereid {
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

/// ", measured on DATE while the machine was busy (load 5.2)".
static std::string rooflineText(const bench::Roofline &roofline) {
  std::string text;
  if (!roofline.date.empty()) {
    text += ", measured " + roofline.date;
  }
  if (roofline.load > 0.5 * thisMachine().cores) {
    char load[32];
    std::snprintf(load, sizeof(load), "%.1f", roofline.load);
    text += std::string(" while the machine was busy (load ") + load +
            "; --roofline again measures anew)";
  }
  for (const std::string &name : roofline.derived) {
    text +=
        (name == roofline.derived[0] ? "; from that of bf16: " : ", ") + name;
  }
  return text;
}

static void addNotes(bench::Report &report, const BenchOptions &options,
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
         "once, and operations, divided by the time" +
         (has([](const bench::Work &work) { return work.isSample; })
              ? ", as " + std::to_string(options.programs) +
                    " programs of the grid tell."
              : std::string(".")));
  }
  if (report.roofline) {
    note("roofline: the least time of these bytes from memory and of these "
         "operations, on this device, divided by the time" +
         rooflineText(*report.roofline) + ".");
  }
  if (std::any_of(
          report.rows.begin(), report.rows.end(), [&](const bench::Row &row) {
            return report.roofline && row.work && row.times.ms.samples &&
                   report.roofline->leastMs(*row.work) >
                       1.005 * row.times.ms.median;
          })) {
    note("roofline above 100 % (!): caches hold what is written or read.");
  }
  if (!report.baseline.empty()) {
    note("speed-up: " + report.baseline + "'s time divided by the provider's.");
  }
  if (std::any_of(
          report.rows.begin(), report.rows.end(), [](const bench::Row &row) {
            return row.times.ms.samples > 1 && row.times.ms.spread() > 0.1;
          })) {
    note("~: the spread is beyond 10 %; two digits are known.");
  }
  if (!report.reference.empty()) {
    note("max diff: from " + report.reference + ".");
  }
  if (std::any_of(report.rows.begin(), report.rows.end(),
                  [](const bench::Row &row) { return row.differs; })) {
    note("max diff (!): more than rounding explains; the providers do not "
         "compute the same.");
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
  size_t standard = options.trace == "-";
  for (const std::string *path :
       {&options.csv, &options.json, &options.svg, &options.html}) {
    standard += *path == "-";
  }
  if (standard > 1) {
    usageError("expected one of --csv, --json, --svg, --html and --trace on "
               "standard output, got " +
               std::to_string(standard));
  }
  for (auto [option, path] : {std::pair("--csv", &options.csv),
                              {"--json", &options.json},
                              {"--svg", &options.svg},
                              {"--html", &options.html}}) {
    if (!path->empty() && *path != "-") {
      throwIfFailed(files.add(option, *path));
    }
  }
  requireTrace(files, options.trace);
}

/// What could not be counted is nothing; `why` is the first reason.
static std::vector<std::optional<bench::Work>>
countPoints(WorkCounter &counter, const std::vector<VariableValues> &points,
            const ProgressLine &line, std::optional<Failure> &why) {
  std::vector<std::optional<bench::Work>> counted(points.size());
  for (size_t i = 0; i < points.size() && !Interruption::signal(); ++i) {
    line.show("counting " + textOf(points[i]));
    if (Expected<bench::Work> work = counter.next(); work.ok()) {
      counted[i] = *work;
    } else if (!why) {
      why = work.failure();
    }
  }
  return counted;
}

static bool hasRoofline(const BenchOptions &options, Device device) {
  const std::string &driver = device.kind() == Device::Kind::Hip
                                  ? knobs().hipDriver
                                  : knobs().cudaDriver;
  bool isSimulated = !device.isHost() && driver == "simulator";
  return !options.isTimesOnly && options.roofline != "none" &&
         device != Device::interp() && !isSimulated;
}

/// A fault of a kernel ends the work of its GPU in this process.
static bool endsDevice(const bench::Row &row, Device device) {
  return row.times.failure && !device.isHost() &&
         row.times.failure->code == ErrorCode::KernelFault;
}

/// False where the first provider failed at some point; throws where it failed
/// at all of them.
static bool measurePoints(bench::Report &report, const BenchPlan &plan,
                          const BenchOptions &options,
                          const std::vector<VariableValues> &points,
                          const ProgressLine &line) {
  Device device = plan.providers[0].device;
  size_t failures = 0, measured = 0;
  BetweenPoints between;
  for (const VariableValues &point : points) {
    if (Interruption::signal()) {
      report.notes.push_back(
          "Stopped by a signal before a point was measured.");
      break;
    }
    std::string head = "[" + std::to_string(++measured) + "/" +
                       std::to_string(points.size()) + "] " + textOf(point);
    line.show(head);
    std::vector<bench::Row> rows =
        timePoint(plan, options, point, between, [&](double share) {
          line.show(head + ": " + std::to_string(int(100 * share)) + " %");
        });
    report.rows.insert(report.rows.end(), rows.begin(), rows.end());
    const std::optional<Failure> &failure = rows[0].times.failure;
    failures += failure.has_value();
    if (Interruption::signal()) {
      report.notes.push_back(
          "Stopped by a signal: " + std::to_string(measured) + " of " +
          std::to_string(points.size()) +
          " points are measured, the last one for a shorter time.");
      break;
    }
    if (endsDevice(rows[0], device) && measured < points.size()) {
      report.notes.push_back(device.str() +
                             " does no more after this fault: the points "
                             "after it are not measured.");
      break;
    }
  }
  if (measured && failures == measured) {
    raise(*report.rows[0].times.failure);
  }
  return failures == 0;
}

/// A kernel that is faster than its bytes come out of the cache was not timed
/// on the machine that the roofline is of: that was busy. The greater rates of
/// the two count.
static void
measureRooflineAgain(bench::Report &report, Device device,
                     const std::function<bench::Roofline()> &again) {
  bool isBeaten = std::any_of(
      report.rows.begin(), report.rows.end(), [&](const bench::Row &row) {
        constexpr double clearly = 0.9;
        return row.work && row.times.ms.samples &&
               row.times.ms.median <
                   clearly * report.roofline->leastCachedMs(*row.work);
      });
  if (!isBeaten || Interruption::signal()) {
    return;
  }
  bench::Roofline before = *report.roofline;
  report.roofline = again();
  report.notes.push_back("The roofline of " + device.str() +
                         " was measured again, since a kernel beat the kept "
                         "one.");
  bench::Roofline &now = *report.roofline;
  now.copy = std::max(now.copy, before.copy);
  now.cache = std::max(now.cache, before.cache);
  for (const auto &[name, rate] : before.operations) {
    now.operations[name] = std::max(now.operations[name], rate);
  }
}

static int runBench(const BenchOptions &options) {
  requireOutputs(options);
  Interruption interruption;
  CommandTrace trace(options.trace);
  // No driver is loaded yet: the process that counts has one of its own.
  BenchPlan plan =
      makePlan(options, options.device.starts_with("cuda") ? Device::cuda()
                        : options.device.starts_with("hip")
                            ? Device::hip()
                            : Device::parse(options.device));
  std::vector<size_t> shown = shownVariables(plan);
  std::vector<VariableValues> points = pointsOf(plan.variables);
  std::optional<WorkCounter> counter;
  if (!options.isTimesOnly) {
    counter.emplace(plan, points, options.programs, options.seed);
  }

  Device device = Device::parse(options.device);
  completePlan(plan, options, device);
  bench::Report report;
  report.title = plan.title;
  report.device = device.str() + " (" + bench::nameOf(device) + ")";
  report.baseline = plan.baseline;
  report.reference = plan.exact ? "float64" : plan.reference;
  for (size_t i : shown) {
    report.variables.push_back(plan.variables[i].name);
  }
  ProgressLine line;
  std::vector<std::optional<bench::Work>> counted(points.size());
  std::optional<Failure> uncounted;
  if (counter) {
    counted = countPoints(*counter, points, line, uncounted);
  }
  auto roofline = [&](bool again) {
    return bench::rooflineOf(
        device, {.again = again,
                 .tell =
                     [&](const std::string &what) {
                       line.show("measuring the roofline of " + device.str() +
                                 ": " + what);
                     },
                 .stops = [] { return Interruption::signal() != 0; }});
  };
  if (hasRoofline(options, device)) {
    report.roofline = roofline(options.roofline == "again");
  }
  bool isGood = measurePoints(report, plan, options, points, line);
  line.show("");
  for (size_t i = 0; i < report.rows.size(); ++i) {
    size_t point = i / plan.providers.size();
    report.rows[i].work = counted[point];
    for (size_t variable : shown) {
      report.rows[i].point.push_back(points[point][variable].second);
    }
  }
  if (report.roofline) {
    measureRooflineAgain(report, device, [&] { return roofline(true); });
    line.show("");
  }
  addNotes(report, options, uncounted);
  report.date = dateText();
  report.program = "nereid " NEREID_VERSION;
  report.command = commandLine();
  writeReport(options, report);
  trace.finish();
  bool differ = std::any_of(report.rows.begin(), report.rows.end(),
                            [](const bench::Row &row) { return row.differs; });
  return Interruption::signal() ? Interruption::status()
         : isGood && !differ    ? 0
                                : 1;
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
                   "A device (interp), 'FILE:KERNEL NAME=VALUE --grid SIZES', "
                   "torch:MODULE.FUNCTION, triton:FILE.py:KERNEL or "
                   "lib:FILE.so:FUNCTION, with LABEL= in front or not: timed "
                   "beside; what is not said is as of the kernel")
      ->allow_extra_args(false);
  command
      ->add_option("--python", options->python,
                   "Of --against torch:... and triton:...: the interpreter")
      ->capture_default_str();
  command
      ->add_option("--device", options->device,
                   "cpu, interp, cuda:0, cuda:1, hip:0, ...")
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
  command->add_option("--csv", options->csv, "FILE, or - for standard output")
      ->check(namedFile());
  command->add_option("--json", options->json, "FILE, or -")
      ->check(namedFile());
  command->add_option("--svg", options->svg, "FILE, or -: plots")
      ->check(namedFile());
  command
      ->add_option("--html", options->html,
                   "FILE, or -: plots to zoom into, and the table")
      ->check(namedFile());
  addTraceOption(*command, options->trace);
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
  addBindOption(*command, options->bindings);
  addSeedOption(*command, options->seed);
  command->callback([options] {
    guardHostMemory();
    if (int status = runBench(*options)) {
      throw CLI::RuntimeError(status);
    }
  });
}

} // namespace nereid
