//===- ConfigTrials.cpp - Timing of configurations ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/autotune/ConfigTrials.h"

#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/launch/Specialize.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace nereid {

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

static const Tensor *findTensor(const LaunchBinding &binding,
                                const std::string &name) {
  const Tensor *found = nullptr;
  forEachTensor(binding, [&](const std::string &its, const Tensor &tensor) {
    found = its == name ? &tensor : found;
  });
  return found;
}

static Status performOne(const HookAction &action, LaunchBinding &binding,
                         HookedArguments &hooked) {
  if (action.kind == HookAction::Kind::BlockShape) {
    std::optional<size_t> i = binding.kernel.findParameter(action.argument);
    const Argument *argument = i ? binding.get(*i) : nullptr;
    if (argument && argument->kind == Argument::Kind::Descriptor) {
      hooked.descriptors.push_back(
          argument->descriptor->withBlockShape(action.shape));
      hooked.arguments.emplace_back(hooked.descriptors.back());
      binding.set(*i, &hooked.arguments.back());
    }
    return Status::success();
  }
  const Tensor *tensor = findTensor(binding, action.argument);
  const Tensor *source = action.kind == HookAction::Kind::Copy
                             ? findTensor(binding, action.source)
                             : tensor;
  if (!tensor || !source) {
    return launchFailure(binding.kernel,
                         "a hook of @triton.autotune changes '" +
                             (tensor ? action.source : action.argument) +
                             "', which is no tensor of this launch");
  }
  if (action.kind == HookAction::Kind::Copy) {
    tensor->copyFrom(*source);
  } else {
    tensor->fill(action.value);
  }
  return Status::success();
}

Status perform(std::span<const HookAction> actions, LaunchBinding &binding,
               HookedArguments &hooked) {
  try {
    for (const HookAction &action : actions) {
      Status status = performOne(action, binding, hooked);
      if (!status.ok()) {
        return status;
      }
    }
  } catch (const Error &error) {
    return error.failure();
  }
  return Status::success();
}

HookRequest ConfigSelection::hookRequest(const LaunchBinding &binding) const {
  HookRequest request;
  request.source = binding.kernel.source;
  request.kernel = description.name;
  request.values = binding.values();
  if (Expected<std::string> target = targetOf(binding.device); target.ok()) {
    request.target = *target;
  }
  return request;
}

Expected<const ConfigSelection::Actions *>
ConfigSelection::actionsOf(HookRequest::Hook hook, size_t config,
                           bool resetOnly, const LaunchBinding &binding) {
  WordKey key;
  key.add(static_cast<uint64_t>(hook) | uint64_t{resetOnly} << 8 |
          uint64_t{config} << 16);
  key.add(binding.options.numWarps);
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument *argument = binding.get(i);
    key.add(argument != nullptr);
    if (argument) {
      appendValue(key, *argument);
    }
  }
  if (const Actions *known = hookActions.find(key)) {
    return known;
  }
  KernelCompiler *compiler = binding.kernel.context.compiler.get();
  if (!compiler) {
    return noCompiler("a hook of '" + description.name + "'");
  }
  HookRequest request = hookRequest(binding);
  request.hook = hook;
  request.config = config;
  request.resetOnly = resetOnly;
  Expected<Actions> actions = compiler->runHook(request);
  if (!actions.ok()) {
    return actions.failure();
  }
  return hookActions.insert(key,
                            std::make_unique<Actions>(std::move(*actions)));
}

/// Of the names, those that are tensors of the launch.
static std::vector<HookAction> zeroActions(const LaunchBinding &binding,
                                           std::span<const std::string> names) {
  std::vector<HookAction> actions;
  for (const std::string &name : names) {
    if (findTensor(binding, name)) {
      actions.push_back({HookAction::Kind::Fill, name, 0, {}, {}});
    }
  }
  return actions;
}

Expected<ConfigSelection::Actions>
ConfigSelection::actionsBefore(size_t config, bool resetOnly,
                               const LaunchBinding &binding) {
  if (!description.hasPreHook) {
    return zeroActions(binding, description.resetToZero);
  }
  auto actions =
      actionsOf(HookRequest::Hook::Before, config, resetOnly, binding);
  return actions.ok() ? Expected<Actions>(**actions) : actions.failure();
}

//===----------------------------------------------------------------------===//
// What trials write
//===----------------------------------------------------------------------===//

Status ConfigSelection::Trials::save(const std::string &name) {
  const Tensor *tensor = findTensor(binding, name);
  bool isKnown = std::any_of(saved.begin(), saved.end(),
                             [&](const Saved &s) { return s.name == name; });
  if (!tensor || isKnown) {
    return Status::success();
  }
  const auto &restored = selection.description.restoreValue;
  bool afterEachRun =
      !selection.description.hasPostHook &&
      std::find(restored.begin(), restored.end(), name) != restored.end();
  try {
    saved.push_back({name, *tensor, tensor->clone(), afterEachRun});
  } catch (const Error &error) {
    if (error.code() != ErrorCode::OutOfMemory || afterEachRun) {
      return error.failure();
    }
    warnOnce(selection.description.name + ": no memory for a copy of '" + name +
             "' while configurations are timed; it keeps what they write");
  }
  return Status::success();
}

void ConfigSelection::Trials::saveActions(const Actions &actions,
                                          Status &status) {
  for (const HookAction &action : actions) {
    if (status.ok()) {
      status = save(action.argument);
    }
  }
}

Status ConfigSelection::Trials::restore(bool all) {
  try {
    for (const Saved &one : saved) {
      if (all || one.afterEachRun) {
        one.tensor.copyFrom(one.copy);
      }
    }
  } catch (const Error &error) {
    return error.failure();
  }
  return Status::success();
}

/// Compiles it, and keeps what it and its hooks write.
Status ConfigSelection::Trials::prepare(Trial &trial) {
  using Hook = HookRequest::Hook;
  const KernelDescription &description = selection.description;
  const Config &config = selection.configs[trial.config];
  selection.apply(trial.binding, config);
  if (config.hasHook) {
    auto own =
        selection.actionsOf(Hook::Config, trial.config, false, trial.binding);
    if (!own.ok()) {
      return own.status();
    }
    trial.own = **own;
  }
  auto before = selection.actionsBefore(trial.config, false, trial.binding);
  if (!before.ok()) {
    return before.status();
  }
  trial.before = std::move(*before);
  if (description.hasPostHook) {
    auto after =
        selection.actionsOf(Hook::After, trial.config, false, trial.binding);
    if (!after.ok()) {
      return after.status();
    }
    trial.after = **after;
  }
  // Block shapes are for the compiler; the rest is for each run.
  auto isBlockShape = [](const HookAction &action) {
    return action.kind == HookAction::Kind::BlockShape;
  };
  for (Actions *actions : {&trial.own, &trial.before, &trial.after}) {
    for (const HookAction &action : *actions) {
      if (isBlockShape(action)) {
        Status status = perform({&action, 1}, trial.binding, trial.hooked);
        if (!status.ok()) {
          return status;
        }
      }
    }
    std::erase_if(*actions, isBlockShape);
  }
  LaunchBinding compiled = trial.binding; // heuristics fill in a copy
  Expected<const KernelImage *> image = steps.compile(compiled);
  if (!image.ok()) {
    return image.status();
  }
  Status status = Status::success();
  for (const Actions *actions : {&trial.own, &trial.before, &trial.after}) {
    saveActions(*actions, status);
  }
  for (const std::string &name : description.restoreValue) {
    status = status.ok() ? save(name) : status;
  }
  for (const ImageParameter &parameter : (*image)->parameters) {
    if (parameter.isPointer && parameter.isWritten && status.ok()) {
      status = save(parameter.name);
    }
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// How long one run took: by the clock where it is done when `run` returns,
/// else by the device's own events.
static Expected<double> timedMs(const LaunchSteps &steps,
                                LaunchBinding &binding) {
  if (binding.device.isHost()) {
    auto start = std::chrono::steady_clock::now();
    Status status = steps.run(binding);
    std::chrono::duration<double, std::milli> ms =
        std::chrono::steady_clock::now() - start;
    return status.ok() ? Expected<double>(ms.count()) : status;
  }
  try {
    Event start(binding.device), end(binding.device);
    start.record();
    Status status = steps.run(binding);
    if (!status.ok()) {
      return status;
    }
    end.record();
    return end.millisecondsSince(start);
  } catch (const Error &error) {
    return error.failure();
  }
}

Expected<double> ConfigSelection::Trials::runOnce(Trial &trial) {
  LaunchBinding fresh = trial.binding;
  Status status = perform(trial.own, fresh, trial.hooked);
  if (status.ok()) {
    status = perform(trial.before, fresh, trial.hooked);
  }
  if (!status.ok()) {
    return status;
  }
  Expected<double> ms = timedMs(steps, fresh);
  status = perform(trial.after, trial.binding, trial.hooked);
  if (status.ok()) {
    status = restore(false);
  }
  return ms.ok() && !status.ok() ? Expected<double>(status) : ms;
}

/// Median of the runs after a warm-up. A configuration that is already far
/// behind `best` is not run again, nor is one that takes long.
Expected<double> ConfigSelection::Trials::medianMs(Trial &trial, double best) {
  Expected<double> warmUp = runOnce(trial); // faults pages in
  if (!warmUp.ok()) {
    return warmUp;
  }
  std::vector<double> times;
  double total = 0;
  while (times.size() < 3 || (total < 20 && times.size() < 25)) {
    Expected<double> ms = runOnce(trial);
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

/// A configuration that cannot be compiled here is no candidate; a launch that
/// is wrong in itself is wrong with every configuration.
static bool isOfConfig(const Failure &failure) {
  return failure.code == ErrorCode::CompileError ||
         failure.code == ErrorCode::Unsupported ||
         failure.code == ErrorCode::OutOfMemory;
}

Expected<size_t>
ConfigSelection::Trials::fastest(std::span<const size_t> candidates) {
  const std::string &name = selection.description.name;
  if (!binding.device.isHost() &&
      Stream::current(binding.device).isRecording()) {
    return {ErrorCode::InvalidArgument,
            name + ": configurations cannot be timed while a graph is "
                   "recorded; launch the kernel once before"};
  }
  // All are compiled first: what they write must be copied before it is.
  std::deque<Trial> trials;
  std::optional<Failure> firstFailure;
  for (size_t config : candidates) {
    Trial &trial = trials.emplace_back(config, binding);
    Status status = prepare(trial);
    if (!status.ok()) {
      if (!isOfConfig(status.failure())) {
        return status;
      }
      firstFailure = firstFailure ? firstFailure : status.failure();
      trials.pop_back();
    }
  }
  double best = std::numeric_limits<double>::infinity();
  std::optional<size_t> choice;
  std::optional<Failure> fatal;
  for (Trial &trial : trials) {
    Expected<double> ms = medianMs(trial, best);
    if (!ms.ok()) {
      if (!isOfConfig(ms.failure())) {
        fatal = ms.failure();
        break;
      }
      firstFailure = firstFailure ? firstFailure : ms.failure();
      continue;
    }
    if (logEnabled(LogTopic::Tune)) {
      logLine(LogTopic::Tune, name + " " + selection.describe(trial.config) +
                                  ": " + std::to_string(*ms) + " ms");
    }
    if (*ms < best || !choice) {
      best = *ms;
      choice = trial.config;
    }
  }
  Status status = restore(true);
  if (fatal || !choice || !status.ok()) {
    return fatal ? *fatal : !choice ? *firstFailure : status.failure();
  }
  if (logEnabled(LogTopic::Tune)) {
    logLine(LogTopic::Tune, name + " uses " + selection.describe(*choice));
  }
  return *choice;
}

} // namespace nereid
