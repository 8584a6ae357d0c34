//===- ConfigSelection.cpp - The fastest configuration, measured once -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/ConfigSelection.h"

#include "nereid/Runtime/LaunchBinding.h"
#include "nereid/Runtime/LaunchErrors.h"
#include "nereid/Runtime/Specialize.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace nereid {

static std::optional<size_t> indexOf(const KernelDescription &description,
                                     const std::string &name) {
  for (size_t i = 0; i < description.parameters.size(); ++i) {
    if (description.parameters[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

ConfigSelection::ConfigSelection(const KernelDescription &description)
    : description(description) {
  for (const ConfigDescription &source : description.configs) {
    Config config;
    config.options = source.options;
    for (const auto &[name, value] : source.values) {
      if (std::optional<size_t> parameter = indexOf(description, name)) {
        config.values.emplace_back(*parameter, Argument(value));
        tuned.push_back(*parameter);
      }
    }
    configs.push_back(std::move(config));
  }
  std::sort(tuned.begin(), tuned.end());
  tuned.erase(std::unique(tuned.begin(), tuned.end()), tuned.end());
  for (const std::string &name : description.tuneKey) {
    if (std::optional<size_t> parameter = indexOf(description, name)) {
      keyParameters.push_back(*parameter);
    }
  }
}

void ConfigSelection::apply(LaunchBinding &binding,
                            const Config &config) const {
  for (const auto &[parameter, value] : config.values) {
    binding.set(parameter, &value);
  }
  CompileOptions &options = binding.options;
  uint32_t checks = options.checks;
  bool fpFusion = options.fpFusion;
  options = config.options;
  options.checks |= checks;
  options.fpFusion &= fpFusion;
}

std::vector<size_t>
ConfigSelection::candidates(const LaunchBinding &binding) const {
  std::vector<size_t> result;
  for (size_t i = 0; i < configs.size(); ++i) {
    bool agrees = true;
    for (const auto &[parameter, value] : configs[i].values) {
      const Argument *given = binding.get(parameter);
      // A default is a value to fall back on, not a wish.
      agrees &= !given || given == &binding.kernel.defaults[parameter] ||
                given->toStatic() == value.toStatic();
    }
    if (agrees) {
      result.push_back(i);
    }
  }
  return result;
}

WordKey ConfigSelection::keyOf(const LaunchBinding &binding) const {
  WordKey key;
  key.add(static_cast<uint64_t>(binding.device.kind()) |
          static_cast<uint64_t>(binding.device.index()) << 8);
  for (size_t parameter : keyParameters) {
    if (const Argument *argument = binding.get(parameter)) {
      appendValue(key, *argument);
    }
  }
  for (size_t parameter : tuned) {
    const Argument *argument = binding.get(parameter);
    key.add(argument != nullptr);
    if (argument) {
      appendValue(key, *argument);
    }
  }
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument *argument = binding.get(i);
    if (argument && argument->kind == Argument::Kind::Tensor) {
      key.add(static_cast<uint64_t>(argument->tensor->dtype()));
    }
  }
  return key;
}

void ConfigSelection::applyFirst(LaunchBinding &binding) const {
  std::vector<size_t> usable = candidates(binding);
  if (!usable.empty()) {
    apply(binding, configs[usable[0]]);
  }
}

Status ConfigSelection::apply(LaunchBinding &binding, const Runner &run) {
  WordKey key = keyOf(binding);
  if (const size_t *known = chosen.find(key)) {
    if (*known < configs.size()) {
      apply(binding, configs[*known]);
    }
    return Status::success();
  }
  std::vector<size_t> usable = candidates(binding);
  size_t choice = configs.size(); // none: the given values as they are
  if (usable.size() == 1 ||
      (!usable.empty() && binding.device == Device::interp())) {
    // The reference executor's times say nothing about a configuration.
    choice = usable[0];
  } else if (!usable.empty()) {
    std::lock_guard lock(measuring);
    if (const size_t *known = chosen.find(key)) {
      choice = *known;
    } else {
      Expected<size_t> best = measure(binding, run, usable);
      if (!best.ok()) {
        return best.failure();
      }
      choice = *best;
    }
  } else {
    for (size_t parameter : tuned) {
      if (!binding.get(parameter)) {
        return launchFailure(
            binding.kernel,
            "no @triton.autotune configuration has the given values",
            "leave the tuned parameters out, or give all of them");
      }
    }
  }
  chosen.insert(key, std::make_unique<size_t>(choice));
  if (choice < configs.size()) {
    apply(binding, configs[choice]);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {
/// Tensors that timing must not leave changed.
class ProtectedTensors {
public:
  ProtectedTensors(const LaunchBinding &binding,
                   const KernelDescription &description) {
    collect(binding, description, description.resetToZero, zeroed);
    collect(binding, description, description.restoreValue, restored);
    for (const Tensor &tensor : restored) {
      saved.push_back(tensor.clone());
    }
  }
  void beforeRun() const {
    for (const Tensor &tensor : zeroed) {
      tensor.zero();
    }
  }
  void afterRun() const {
    for (size_t i = 0; i < saved.size(); ++i) {
      restored[i].copyFrom(saved[i]);
    }
  }

private:
  static void collect(const LaunchBinding &binding,
                      const KernelDescription &description,
                      const std::vector<std::string> &names,
                      std::vector<Tensor> &out) {
    for (const std::string &name : names) {
      std::optional<size_t> i = indexOf(description, name);
      const Argument *argument = i ? binding.get(*i) : nullptr;
      if (argument && argument->kind == Argument::Kind::Tensor &&
          argument->tensor->defined()) {
        out.push_back(*argument->tensor);
      }
    }
  }

  std::vector<Tensor> zeroed, restored, saved;
};
} // namespace

/// How long one run took: by the clock where it is done when `run` returns,
/// else by the device's own events.
static Expected<double> timedMs(const ConfigSelection::Runner &run,
                                LaunchBinding &binding) {
  if (binding.device.isHost()) {
    auto start = std::chrono::steady_clock::now();
    Status status = run(binding);
    std::chrono::duration<double, std::milli> ms =
        std::chrono::steady_clock::now() - start;
    return status.ok() ? Expected<double>(ms.count()) : status;
  }
  try {
    Event start(binding.device), end(binding.device);
    start.record();
    Status status = run(binding);
    if (!status.ok()) {
      return status;
    }
    end.record();
    return end.millisecondsSince(start);
  } catch (const Error &error) {
    return error.failure();
  }
}

/// Median of the runs after a warm-up. A configuration that is already far
/// behind `best` is not run again, nor is one that takes long.
static Expected<double> medianMs(const ConfigSelection::Runner &run,
                                 LaunchBinding &binding,
                                 const ProtectedTensors &tensors, double best) {
  auto once = [&]() -> Expected<double> {
    LaunchBinding fresh = binding; // heuristics fill in a copy
    tensors.beforeRun();
    Expected<double> ms = timedMs(run, fresh);
    tensors.afterRun();
    return ms;
  };
  Expected<double> warmUp = once(); // compiles, and faults pages in
  if (!warmUp.ok()) {
    return warmUp;
  }
  std::vector<double> times;
  double total = 0;
  while (times.size() < 3 || (total < 20 && times.size() < 25)) {
    Expected<double> ms = once();
    if (!ms.ok()) {
      return ms;
    }
    times.push_back(*ms);
    total += *ms;
    if (*ms > 4 * best || total > 500) {
      break;
    }
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

std::string ConfigSelection::describe(size_t config) const {
  std::string text;
  for (const auto &[parameter, value] : configs[config].values) {
    text += description.parameters[parameter].name + "=" +
            value.toStatic().str() + " ";
  }
  return text + "num_warps=" + std::to_string(configs[config].options.numWarps);
}

Expected<size_t>
ConfigSelection::measure(const LaunchBinding &binding, const Runner &run,
                         std::span<const size_t> candidates) const {
  if (!binding.device.isHost() &&
      Stream::current(binding.device).isRecording()) {
    return {ErrorCode::InvalidArgument,
            description.name + ": configurations cannot be timed while a graph "
                               "is recorded; launch the kernel once before"};
  }
  ProtectedTensors tensors(binding, description);
  double best = std::numeric_limits<double>::infinity();
  size_t choice = configs.size();
  std::optional<Failure> firstFailure;
  for (size_t config : candidates) {
    LaunchBinding trial = binding;
    apply(trial, configs[config]);
    Expected<double> ms = medianMs(run, trial, tensors, best);
    if (!ms.ok()) {
      // A configuration that cannot be compiled here is no candidate; a launch
      // that is wrong in itself is wrong with every configuration.
      const Failure &failure = ms.failure();
      bool skip = failure.code == ErrorCode::CompileError ||
                  failure.code == ErrorCode::Unsupported ||
                  failure.code == ErrorCode::OutOfMemory;
      if (!skip) {
        return failure;
      }
      firstFailure = firstFailure ? firstFailure : failure;
      continue;
    }
    if (logEnabled(LogTopic::Tune)) {
      logLine(LogTopic::Tune, description.name + " " + describe(config) + ": " +
                                  std::to_string(*ms) + " ms");
    }
    if (*ms < best) {
      best = *ms;
      choice = config;
    }
  }
  tensors.beforeRun();
  if (choice == configs.size()) {
    return *firstFailure;
  }
  if (logEnabled(LogTopic::Tune)) {
    logLine(LogTopic::Tune, description.name + " uses " + describe(choice));
  }
  return choice;
}

} // namespace nereid
