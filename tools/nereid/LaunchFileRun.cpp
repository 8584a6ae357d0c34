//===- LaunchFileRun.cpp - nereid run --launch ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFileMemory.h"

#include "Commands.h"
#include "OutsideWarnings.h"
#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/ExitStatus.h"

#include "nereid/Bench/Measure.h"
#include "nereid/Support/Files.h"
#include "tools/check/DeviceCheck.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <sstream>
#include <unistd.h>

namespace nereid {

using Json = JsonReader::Json;

//===----------------------------------------------------------------------===//
// One launch
//===----------------------------------------------------------------------===//

namespace {

/// The arguments of a launch, which views what stands here.
class LaunchArguments {
public:
  LaunchArguments(const LaunchDescription &launch, const LaunchMemory &memory)
      : launch(launch), memory(memory) {
    for (const auto &[name, value] : launch.arguments) {
      all.emplace_back(name, argumentOf(value));
    }
    for (const auto &[name, value] : launch.options) {
      all.emplace_back(name, argumentOf(value));
    }
  }

  std::span<const LaunchArgument> get() const { return all; }

private:
  Argument argumentOf(const LaunchValue &value) {
    switch (value.kind) {
    case LaunchValue::Kind::Plain:
      return Argument(value.plain);
    case LaunchValue::Kind::Tensor:
      tensors.push_back(memory.view(value.view, value.place));
      return Argument(tensors.back());
    case LaunchValue::Kind::Function:
      return Argument(FunctionName{value.text});
    case LaunchValue::Kind::Descriptor:
      descriptors.push_back(descriptorOf(value));
      return Argument(descriptors.back());
    case LaunchValue::Kind::Tuple:
      break;
    }
    std::vector<Argument> items;
    for (const LaunchValue &item : value.items) {
      items.push_back(argumentOf(item));
    }
    tuples.push_back(value.names.empty() ? Tuple(std::move(items))
                                         : Tuple::named(value.text, value.names,
                                                        std::move(items)));
    return Argument(tuples.back());
  }

  TensorDescriptor descriptorOf(const LaunchValue &value) const {
    Tensor base = memory.view(value.view, value.place + "/descriptor/base");
    try {
      return TensorDescriptor(
          std::move(base), value.shape, value.strides, value.block,
          value.padding == "nan" ? TensorDescriptor::Padding::Nan
                                 : TensorDescriptor::Padding::Zero);
    } catch (const Error &error) {
      usageError(launch.source + ": " + value.place + ": " + error.message());
    }
  }

  const LaunchDescription &launch;
  const LaunchMemory &memory;
  std::deque<Tensor> tensors; ///< addresses stay
  std::deque<TensorDescriptor> descriptors;
  std::deque<Tuple> tuples;
  std::vector<LaunchArgument> all;
};

/// Kernels that this process has loaded, by file, name and bindings.
class LoadedKernels {
public:
  Kernel get(const LaunchDescription &launch) {
    std::string key = launch.file + '\n' + launch.kernel + '\n' +
                      StaticValue(launch.bindings).str();
    auto found = kernels.find(key);
    if (found == kernels.end()) {
      found =
          kernels
              .emplace(key, Kernel::fromSource(sourceOf(launch), launch.kernel))
              .first;
    }
    return found->second;
  }
  static Source sourceOf(const LaunchDescription &launch) {
    Source source;
    source.path = launch.file;
    source.text = valueOrThrow(readFile(launch.file));
    source.bindings = launch.bindings;
    return source;
  }

private:
  std::map<std::string, Kernel> kernels;
};

} // namespace

/// The report, if everything is right.
static std::string checked(const LaunchDescription &launch,
                           const LaunchMemory &memory, const Grid &grid,
                           std::span<const LaunchArgument> arguments,
                           double tolerance) {
  check::CheckedLaunch toCheck;
  toCheck.load = [&launch](Context &context) {
    return Kernel::fromSource(LoadedKernels::sourceOf(launch), launch.kernel,
                              context);
  };
  toCheck.grid = grid;
  toCheck.arguments = arguments;
  toCheck.tolerance = tolerance;
  for (size_t i = 0; i < launch.storages.size(); ++i) {
    toCheck.reachable.push_back(
        {"storage " + std::to_string(i), memory.bytes(i)});
  }
  check::CheckReport report = check::checkLaunch(toCheck);
  if (!report.passed()) {
    raise({ErrorCode::KernelFault,
           launch.kernel + ": the devices disagree\n" + report.text(),
           {}});
  }
  return report.text();
}

Json runLaunch(const LaunchDescription &launch, Device device,
               const LaunchFileOptions &options,
               const std::function<void(const Diagnostic &)> &warn) {
  static LoadedKernels kernels;
  Kernel kernel = kernels.get(launch).on(device);
  LaunchMemory memory(launch, device);
  OutputFiles outputs = options.outputs;
  for (const LaunchStorage &storage : launch.storages) {
    if (!storage.out.empty()) {
      throwIfFailed(outputs.add(launch.source + ": " + storage.place + "/out",
                                storage.out));
    }
  }
  LaunchArguments arguments(launch, memory);
  Grid grid{std::span<const int64_t>(launch.grid)};
  auto run = [&] { kernel.launch(grid, arguments.get()); };
  std::vector<Tensor> storages;
  for (size_t i = 0; i < launch.storages.size(); ++i) {
    storages.push_back(memory.bytes(i));
  }
  for (const Diagnostic &warning :
       outsideWarnings(kernel, grid, arguments.get(), storages)) {
    warn(warning);
  }
  Json result;
  if (options.check) {
    result["check"] =
        checked(launch, memory, grid, arguments.get(), options.tolerance);
  }
  result["kernel"] = kernel.name();
  result["device"] = device.str();
  result["first_ms"] = bench::clockMs(device, run);
  memory.writeOutputs();
  std::vector<double> times;
  for (int64_t i = 0; i < launch.repeat; ++i) {
    memory.restore();
    times.push_back(bench::runMs(device, run));
  }
  if (!times.empty()) {
    bench::Summary ms = bench::summarize(times);
    result["median_ms"] = ms.median;
    result["fastest_ms"] = ms.least;
    result["launches"] = ms.samples;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Many
//===----------------------------------------------------------------------===//

static Device deviceOf(const LaunchDescription &launch,
                       const LaunchFileOptions &options) {
  return Device::parse(options.device          ? *options.device
                       : launch.device.empty() ? "cpu"
                                               : launch.device);
}

namespace {

class LaunchBatch {
public:
  explicit LaunchBatch(const LaunchFileOptions &given) : options(given) {
    if (!options.results.empty()) {
      throwIfFailed(options.outputs.add("--results", options.results));
    }
  }
  ~LaunchBatch() {
    if (results >= 0) {
      ::close(results);
    }
  }

  /// A document: a launch, or a list of them.
  void document(const std::string &source, const std::string &text,
                const std::filesystem::path &folder) {
    Json json;
    if (!attempt(source, [&] {
          json = parseJson(source, text);
          return Json();
        })) {
      return;
    }
    if (!json.is_array()) {
      one(JsonReader(source, json), source, folder);
      return;
    }
    JsonReader list(source, json);
    for (size_t i = 0; i < json.size(); ++i) {
      one(list.item(i), source, folder);
    }
  }

  void lines(const std::string &name, std::istream &in,
             const std::filesystem::path &folder) {
    std::string line;
    for (size_t number = 1; std::getline(in, line); ++number) {
      if (line.find_first_not_of(" \t\r") != std::string::npos) {
        document(name + ":" + std::to_string(number), line, folder);
      }
    }
  }

  int exitCode() const {
    if (failures && !options.results.empty()) {
      printError("error: expected every launch to be ok, got " +
                 std::to_string(failures) + " of " + std::to_string(launches) +
                 " that are not; the lines of '" + options.results +
                 "' say why\n");
    }
    return failures ? ExitFailure : ExitSuccess;
  }

private:
  void one(const JsonReader &json, const std::string &source,
           const std::filesystem::path &folder) {
    Json given;
    if (json.json().is_object() && json.has("id")) {
      given = json.json()["id"];
    }
    std::string place =
        source + (json.place().empty() ? "" : ":" + json.place());
    Device device = Device::cpu();
    bool good = attempt(
        place,
        [&] {
          LaunchDescription launch = readLaunch(json, folder);
          launch.source = source;
          protectInput(launch.file);
          for (const LaunchStorage &storage : launch.storages) {
            protectInput(storage.path);
          }
          device = deviceOf(launch, options);
          return runLaunch(launch, device, options,
                           [&](const Diagnostic &warning) {
                             warnings.push_back(render(warning));
                           });
        },
        given);
    if (!good && !device.isHost()) {
      // After a fault of a kernel the driver refuses everything: throws.
      synchronize(device);
    }
  }

  /// Writes the result of `work`; nothing for null. False when it failed.
  bool attempt(const std::string &place, const std::function<Json()> &work,
               const Json &id = {}) {
    Json line;
    line["launch"] = place;
    if (!id.is_null()) {
      line["id"] = id;
    }
    bool good = true;
    warnings.clear();
    try {
      Json result = work();
      if (result.is_null()) {
        return true;
      }
      line["status"] = "ok";
      line.update(result);
    } catch (const Error &error) {
      good = false;
      line["status"] = isRefusal(error.code()) ? "refused" : "failed";
      line["code"] = name(error.code());
      line["error"] = error.what();
    } catch (const std::bad_alloc &) {
      good = false;
      line["status"] = "failed";
      line["code"] = name(ErrorCode::OutOfMemory);
      line["error"] = "no memory for this launch";
    }
    if (!warnings.empty()) {
      line["warnings"] = warnings;
    }
    ++launches;
    failures += !good;
    // In one piece and at once: what comes next may end the process.
    std::string text =
        line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (options.results.empty()) {
      writeOutput(text);
    } else {
      throwIfFailed(writeDescriptor(openResults(), text, options.results));
    }
    return good;
  }

  /// Lines go into the file itself, since the process may end at any time; so
  /// it is opened when there is one to write, and all inputs but later ones are
  /// known.
  int openResults() {
    if (results < 0) {
      throwIfFailed(OutputFiles().add("--results", options.results));
      results =
          ::open(options.results.c_str(),
                 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
      if (results < 0) {
        raise({ErrorCode::IoError,
               "cannot write '" + options.results + "': " +
                   (errno == ENXIO ? "no process reads from this pipe"
                                   : std::strerror(errno)),
               {}});
      }
      ::fcntl(results, F_SETFL, ::fcntl(results, F_GETFL) & ~O_NONBLOCK);
    }
    return results;
  }

  static bool isRefusal(ErrorCode code) {
    return code == ErrorCode::InvalidArgument ||
           code == ErrorCode::CompileError || code == ErrorCode::NotFound ||
           code == ErrorCode::Unsupported;
  }

  LaunchFileOptions options;
  int results = -1; ///< descriptor of the file
  size_t launches = 0, failures = 0;
  std::vector<std::string> warnings; ///< of the launch that runs
};

} // namespace

/// Recordings of a day are some ten of MB.
static constexpr uint64_t mostLaunchBytes = uint64_t{256} << 20;

static bool isLines(const std::string &path) {
  return path == "-" || path.ends_with(".jsonl");
}

/// The launch of the one file that there is; nothing when it holds several.
static std::optional<LaunchDescription> readSingle(const std::string &path) {
  std::string text = valueOrThrow(readFile(path, mostLaunchBytes));
  Json json = parseJson(path, text);
  if (json.is_array()) {
    return std::nullopt;
  }
  LaunchDescription launch = readLaunch(
      JsonReader(path, json), std::filesystem::path(path).parent_path());
  launch.source = path;
  return launch;
}

static void printTimes(const Json &result) {
  std::printf("%s on %s: first launch, with loading, %.4g ms\n",
              result["kernel"].get<std::string>().c_str(),
              result["device"].get<std::string>().c_str(),
              result["first_ms"].get<double>());
  std::printf("%s: median %.4g ms, fastest %.4g ms, %d launches\n",
              result["kernel"].get<std::string>().c_str(),
              result["median_ms"].get<double>(),
              result["fastest_ms"].get<double>(),
              result["launches"].get<int>());
}

int runLaunchFiles(const LaunchFileOptions &options) {
  bool single = options.files.size() == 1 && !isLines(options.files[0]) &&
                options.results.empty();
  if (single) {
    if (std::optional<LaunchDescription> launch =
            readSingle(options.files[0])) {
      Json result = runLaunch(*launch, deviceOf(*launch, options), options,
                              printDiagnostic);
      if (options.check) {
        writeOutput(result["check"].get<std::string>());
      }
      if (launch->repeat) {
        printTimes(result);
      }
      return 0;
    }
  }
  LaunchBatch batch(options);
  for (const std::string &path : options.files) {
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (path == "-") {
      batch.lines("standard input", std::cin, {});
      continue;
    }
    std::string text = valueOrThrow(readFile(path, mostLaunchBytes));
    if (isLines(path)) {
      std::istringstream in(text);
      batch.lines(path, in, folder);
    } else {
      batch.document(path, text, folder);
    }
  }
  return batch.exitCode();
}

} // namespace nereid
