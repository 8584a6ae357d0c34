//===- TuneCommand.cpp - nereid tune --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command starts itself again as a worker, which launches the kernel once:
// the launch is tuned as any launch of @triton.autotune is (nereid/Tune). The
// command itself watches, prints, and writes files.
//
//===----------------------------------------------------------------------===//

#include "TuneList.h"
#include "TuneReport.h"
#include "TuneWorker.h"
#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/Interruption.h"
#include "tools/nereid/Commands.h"
#include "tools/nereid/KernelArguments.h"
#include "tools/nereid/OptionText.h"
#include "tools/nereid/TraceOption.h"

#include "nereid/Prof/Trace.h"
#include "nereid/Support/Files.h"
#include "nereid/Tune/Supervisor.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace nereid {

using namespace tune;
using Json = nlohmann::ordered_json;

namespace {

struct TuneOptions : TuneLaunch {
  bool list = false;
  double limit = 10;
  std::string json, exportTo, importFrom;
  int worker = -1;
  std::vector<std::string> words; ///< of the command line
};

/// A folder for the time of the command: what workers tell one another where
/// nothing is kept.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error;
    std::string base = std::filesystem::temp_directory_path(error).string();
    std::string name = (base.empty() ? "/tmp" : base) + "/nereid-tune-XXXXXX";
    if (::mkdtemp(name.data())) {
      path = name;
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) {
      std::filesystem::remove_all(path, ignored);
    }
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  std::string path;
};

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Adds to what the file has; a record of the same key is replaced.
static void exportRecords(const std::string &path,
                          std::vector<TuningRecord> records) {
  std::error_code ignored;
  std::vector<TuningRecord> all;
  if (std::filesystem::is_regular_file(path, ignored) &&
      std::filesystem::file_size(path, ignored)) {
    // Not as an input of the command, which it may not write to.
    std::ifstream in(path);
    all = valueOrThrow(
        parseRecords(path, {std::istreambuf_iterator<char>(in), {}}));
  }
  for (TuningRecord &record : records) {
    std::erase_if(
        all, [&](const TuningRecord &old) { return old.id() == record.id(); });
    all.push_back(std::move(record));
  }
  writeResult(path, fileText(all));
}

static void importRecords(const std::string &path) {
  std::vector<TuningRecord> records = valueOrThrow(readRecords(path));
  TuningStore kept = TuningStore::ofThisUser();
  if (!kept.isUsable()) {
    raise({ErrorCode::IoError,
           "--import " + path +
               ": choices cannot be kept; see NEREID_CACHE_DIR and "
               "NEREID_CACHE_SIZE",
           {}});
  }
  for (const TuningRecord &record : records) {
    throwIfFailed(kept.keep(record));
  }
  writeOutput("imported " + std::to_string(records.size()) +
              (records.size() == 1 ? " choice\n" : " choices\n"));
}

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

/// Of all workers; one that a trial ended has left none.
static std::string traceOf(const std::string &folder,
                           const TuningRecord &record) {
  std::vector<std::string> texts, notes;
  std::error_code ignored;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with("trace-")) {
      std::ifstream in(entry.path());
      texts.emplace_back(std::istreambuf_iterator<char>(in),
                         std::istreambuf_iterator<char>());
    }
  }
  for (const TrialRecord &trial : record.trials) {
    if (trial.state == TrialState::Hung || trial.state == TrialState::Faulted) {
      notes.push_back("what the worker did that ended with " +
                      describe(trial.config) + " is missing");
    }
  }
  return prof::mergedJson(texts, notes);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static void tuneKernel(const TuneOptions &options) {
  if (options.grid.empty()) {
    usageError("expected FILE:KERNEL and --grid, got no --grid");
  }
  if (Device::parse(options.device) == Device::interp()) {
    usageError(
        "--device interp: expected cpu, cuda:N or hip:N; what the reference "
        "executor takes says nothing about a configuration");
  }
  OutputFiles outputs;
  for (auto [option, path] : {std::pair("--export", &options.exportTo),
                              std::pair("--json", &options.json)}) {
    if (!path->empty() && *path != "-") {
      throwIfFailed(outputs.add(option, *path));
    }
  }
  requireTrace(outputs, options.trace);
  TemporaryFolder spare;
  if (spare.path.empty() && !options.trace.empty()) {
    raise({ErrorCode::IoError,
           "--trace: cannot make a temporary folder; TMPDIR names another",
           {}});
  }
  SupervisorOptions supervised;
  supervised.command = options.words;
  supervised.command.insert(supervised.command.end(),
                            {"--worker-folder", spare.path});
  supervised.limitSeconds = options.limit;
  supervised.signal = &Interruption::noted();
  int64_t begin = steadyClock()->now();
  std::optional<SupervisedTuning> tuning;
  {
    Interruption interruption(Interruption::Of::All);
    TuneProgress bar;
    supervised.progress = [&](const Progress &progress) { bar.show(progress); };
    tuning = valueOrThrow(superviseTuning(supervised));
  } // what is written now can be stopped
  if (tuning->signal) {
    printError(std::string("stopped by ") +
               (tuning->signal == SIGINT ? "Ctrl-C" : "a signal") + "\n");
  }
  if (!tuning->result) {
    if (tuning->signal && options.json != "-") {
      writeOutput(tuneReport(tuning->trials));
    }
    throw CLI::RuntimeError(tuning->exitCode);
  }
  const WorkerResult &result = *tuning->result;
  if (!options.trace.empty()) {
    writeResult(options.trace, traceOf(spare.path, result.record));
  }
  if (!options.json.empty()) {
    Json json = toJson(result.record);
    json["found"] = result.wasFound;
    json["ready_ms"] = result.readyMs;
    writeResult(
        options.json,
        json.dump(1, ' ', false, decltype(json)::error_handler_t::replace) +
            "\n");
  }
  if (options.json != "-") {
    writeOutput(
        tuneReport(result, options.device, steadyClock()->secondsSince(begin)));
  }
  if (!result.record.doubt.empty()) {
    raise({ErrorCode::Unsupported,
           result.record.kernel + ": " + result.record.doubt +
               "; nothing is kept" +
               (options.exportTo.empty() ? "" : " and nothing is exported") +
               "\nhint: take out the configurations that compute something "
               "else; nereid run --check judges one that the launch names",
           {}});
  }
  if (!options.exportTo.empty()) {
    exportRecords(options.exportTo, {result.record});
  }
  if (tuning->signal) {
    throw CLI::RuntimeError(tuning->exitCode);
  }
}

static void runTune(const TuneOptions &options) {
  if (!options.importFrom.empty()) {
    importRecords(options.importFrom);
  }
  if (options.kernel.empty()) {
    if (!options.exportTo.empty()) {
      exportRecords(options.exportTo, TuningStore::ofThisUser().all());
    } else if (options.importFrom.empty()) {
      usageError("expected FILE:KERNEL, --import FILE or --export FILE");
    }
  } else if (options.list) {
    Device device = Device::parse(options.device);
    listTuning(options.kernel, options.bindings,
               parseArguments(options.arguments, device, options.seed), device);
  } else if (options.worker >= 0) {
    runTuneWorker(options, options.worker);
  } else {
    tuneKernel(options);
  }
}

void addTuneCommand(CLI::App &app, std::vector<std::string> words) {
  auto options = std::make_shared<TuneOptions>();
  options->words = std::move(words);
  CLI::App *command = app.add_subcommand(
      "tune", "Find a kernel's fastest configuration, and keep it");
  command->add_option("kernel", options->kernel, "FILE:KERNEL");
  command->add_option("arguments", options->arguments,
                      "NAME=VALUE, as of nereid run; parameters that are to be "
                      "tuned are left out");
  command->add_option("--grid", options->grid,
                      "One to three sizes: expressions over the arguments and "
                      "the tuned parameters");
  command
      ->add_option("--device", options->device,
                   "cpu, cuda:0, cuda:1, hip:0, ...")
      ->capture_default_str();
  command->add_flag("--search", options->search,
                    "Also try what is in no list: other block sizes, and on a "
                    "GPU other warps, stages and registers. Without a list of "
                    "@triton.autotune, every tl.constexpr parameter that has "
                    "no value is searched");
  command
      ->add_option(
          "--seconds", options->seconds,
          "For all of it, at most; what was not tried by then is named "
          "(--search without it: 60)")
      ->check(wholeNumber(1, 86400));
  command
      ->add_option("--rounds", options->rounds,
                   "Rounds at most in which those that may be the best are "
                   "measured: fewer choose sooner, and less surely")
      ->check(wholeNumber(1, options->rounds))
      ->capture_default_str();
  command
      ->add_option("--values", options->values,
                   "Of --search: NAME=V1,V2,... are the values to try of a "
                   "parameter; else powers of two")
      ->allow_extra_args(false);
  command->add_flag("--again", options->again,
                    "Tune again what was tuned before");
  command
      ->add_option("--limit", options->limit,
                   "Seconds that a trial may take; one that takes longer is "
                   "ended and left out")
      ->check(finiteFromZero())
      ->capture_default_str();
  command->add_option("--json", options->json,
                      "FILE for the result as JSON, or - for standard output "
                      "instead of the text");
  command->add_option("--export", options->exportTo,
                      "FILE.json that the choice is added to; without a "
                      "kernel, all that are kept");
  command->add_option("--import", options->importFrom,
                      "FILE.json of choices to be kept from now on");
  command->add_flag("--list", options->list,
                    "Only print, as JSON, what the decorators of the file say; "
                    "with arguments, what their functions make of these");
  addTraceOption(*command, options->trace);
  addBindOption(*command, options->bindings);
  addSeedOption(*command, options->seed);
  command->add_option("--worker", options->worker)->group("");
  command->add_option("--worker-folder", options->folder)->group("");
  command->add_flag("--worker-compiles-one-by-one", options->compilesOneByOne)
      ->group("");
  command->callback([options] { runTune(*options); });
}

} // namespace nereid
