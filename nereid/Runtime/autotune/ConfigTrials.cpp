//===- ConfigTrials.cpp - Runs of configurations --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/autotune/ConfigTrials.h"

#include "nereid/ABI/AssembledApart.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/launch/Specialize.h"
#include "nereid/Support/Log.h"

#include <algorithm>

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
ConfigSelection::actionsOf(HookRequest::Hook hook, const Config &config,
                           bool resetOnly, const LaunchBinding &binding) {
  WordKey key;
  key.add(static_cast<uint64_t>(hook) | uint64_t{resetOnly} << 8 |
          uint64_t{config.index.value_or(0)} << 16);
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
    return noCompiler("a hook of '" + description.name + "'",
                      binding.kernel.context);
  }
  HookRequest request = hookRequest(binding);
  request.hook = hook;
  request.config = config.index.value_or(0);
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
ConfigSelection::actionsBefore(const Config &config, bool resetOnly,
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

Status ConfigSelection::Trials::prepareHooks(Trial &trial) {
  using Hook = HookRequest::Hook;
  const Config &config = trial.config;
  if (config.hasHook()) {
    auto own = selection.actionsOf(Hook::Config, config, false, trial.binding);
    if (!own.ok()) {
      return own.status();
    }
    trial.own = **own;
  }
  auto before = selection.actionsBefore(config, false, trial.binding);
  if (!before.ok()) {
    return before.status();
  }
  trial.before = std::move(*before);
  if (selection.description.hasPostHook) {
    auto after = selection.actionsOf(Hook::After, config, false, trial.binding);
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
  return Status::success();
}

/// What it and its hooks write and nothing has written so far.
Status ConfigSelection::Trials::saveWritten(const Trial &trial) {
  Status status = Status::success();
  for (const Actions *actions : {&trial.own, &trial.before, &trial.after}) {
    saveActions(*actions, status);
  }
  for (const std::string &name : selection.description.restoreValue) {
    status = status.ok() ? save(name) : status;
  }
  for (const ImageParameter &parameter : trial.image->parameters) {
    if (parameter.isPointer && parameter.isWritten && status.ok()) {
      status = save(parameter.name);
    }
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

ConfigSelection::Trials::Trials(ConfigSelection &selection,
                                const LaunchBinding &binding,
                                const LaunchSteps &steps, TuningKey key,
                                std::span<const size_t> candidates)
    : selection(selection), binding(binding), steps(steps),
      key_(std::move(key)) {
  for (size_t config : candidates) {
    trials.emplace_back(selection.configs[config], binding);
  }
}

size_t ConfigSelection::Trials::add(ConfigDescription config) {
  added.emplace_back(selection.description, std::move(config), std::nullopt);
  trials.emplace_back(added.back(), binding);
  return trials.size() - 1;
}

static std::string list(std::span<const int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes) {
    text += (text.empty() ? "" : ",") + std::to_string(size);
  }
  return text;
}

std::string ConfigSelection::Trials::arguments() const {
  std::string text;
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument *argument = binding.get(i);
    bool isPlain = argument && argument->kind < Argument::Kind::Static &&
                   argument->kind != Argument::Kind::Pointer;
    if (argument && argument->kind != Argument::Kind::Tensor) {
      text += selection.description.parameters[i].name + "=" +
              (isPlain ? argument->toStatic().str() : argument->describe()) +
              " ";
    }
  }
  forEachTensor(binding, [&](const std::string &name, const Tensor &tensor) {
    text += name + "=" + std::string(shortName(tensor.dtype())) + "[" +
            list(tensor.shape()) + "](" + list(tensor.strides()) + ") ";
  });
  return text;
}

Expected<std::array<int32_t, 3>> ConfigSelection::Trials::grid(size_t index) {
  LaunchBinding bound = binding;
  selection.apply(bound, trials[index].config);
  return steps.grid(bound);
}

Status ConfigSelection::Trials::compile(size_t index) {
  ContextScope scope(&binding.kernel.context); // on a thread of the chooser's
  Trial &trial = trials[index];
  selection.apply(trial.binding, trial.config);
  Status status = prepareHooks(trial);
  if (!status.ok()) {
    return status;
  }
  LaunchBinding compiled = trial.binding; // heuristics fill in a copy
  AssembledApart apart;
  Expected<const LoadedImage *> loaded = steps.compile(compiled);
  if (loaded.ok()) {
    trial.image = &(*loaded)->image;
    trial.codeHash = (*loaded)->codeHash;
  }
  return loaded.status();
}

Status ConfigSelection::Trials::before(size_t index) {
  Trial &trial = trials[index];
  LaunchBinding hooked = trial.binding;
  Status status = perform(trial.own, hooked, trial.hooked);
  return status.ok() ? perform(trial.before, hooked, trial.hooked) : status;
}

Status ConfigSelection::Trials::run(size_t index) {
  LaunchBinding fresh = trials[index].binding;
  return steps.run(fresh);
}

Status ConfigSelection::Trials::after(size_t index) {
  Trial &trial = trials[index];
  Status status = perform(trial.after, trial.binding, trial.hooked);
  return status.ok() ? restore(false) : status;
}

Status ConfigSelection::Trials::runFresh(
    size_t index,
    const std::function<void(std::span<const NamedTensor>)> &look) {
  Status status = saveWritten(trials[index]);
  status = status.ok() ? restore(true) : status;
  return status.ok() ? runAndLook(index, look) : status;
}

Status ConfigSelection::Trials::runFilled(
    size_t index, double value,
    const std::function<void(std::span<const NamedTensor>)> &look) {
  Status status = saveWritten(trials[index]);
  status = status.ok() ? restore(true) : status;
  if (!status.ok()) {
    return status;
  }
  try {
    for (const Saved &one : saved) {
      if (isFloat(one.tensor.dtype())) {
        one.tensor.fill(value);
      }
    }
  } catch (const Error &error) {
    return error.failure();
  }
  status = runAndLook(index, look);
  Status restored = restore(true);
  return status.ok() ? restored : status;
}

Status ConfigSelection::Trials::runAndLook(
    size_t index,
    const std::function<void(std::span<const NamedTensor>)> &look) {
  Status status = before(index);
  status = status.ok() ? run(index) : status;
  if (!status.ok()) {
    return status;
  }
  try {
    synchronize(binding.device);
    std::vector<NamedTensor> written;
    for (const Saved &one : saved) {
      written.push_back({one.name, one.tensor});
    }
    look(written);
  } catch (const Error &error) {
    return error.failure();
  }
  return after(index);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

Expected<size_t> ConfigSelection::Trials::firstThatCompiles() {
  std::optional<Failure> firstFailure;
  for (size_t trial = 0; trial < trials.size(); ++trial) {
    Status status = compile(trial);
    if (status.ok()) {
      return trial;
    }
    if (!isOfConfig(status.failure())) {
      return status;
    }
    firstFailure = firstFailure ? firstFailure : status.failure();
  }
  return *firstFailure;
}

Expected<size_t> ConfigSelection::Trials::choose(ConfigChooser &chooser) {
  if (!binding.device.isHost() &&
      Stream::current(binding.device).isRecording()) {
    return {ErrorCode::InvalidArgument,
            selection.description.name +
                ": configurations cannot be timed while a graph is "
                "recorded; launch the kernel once before"};
  }
  Expected<size_t> choice = chooser.choose(*this);
  Status status = restore(true);
  return choice.ok() && !status.ok() ? Expected<size_t>(status) : choice;
}

//===----------------------------------------------------------------------===//
// What a selection uses of all this
//===----------------------------------------------------------------------===//

Expected<std::vector<size_t>>
ConfigSelection::pruned(const LaunchBinding &binding) const {
  std::vector<size_t> usable = candidates(binding);
  KernelCompiler *compiler = binding.kernel.context.compiler.get();
  if (!description.prunesConfigs || usable.size() < 2 || !compiler) {
    return usable;
  }
  HookRequest request = hookRequest(binding);
  Expected<std::vector<size_t>> left = compiler->pruneConfigs(request);
  if (!left.ok()) {
    return left;
  }
  std::erase_if(usable, [&](size_t config) {
    return std::find(left->begin(), left->end(), config) == left->end();
  });
  if (usable.empty()) {
    return launchFailure(binding.kernel,
                         "prune_configs_by leaves no configuration");
  }
  return usable;
}

Expected<std::unique_ptr<ConfigSelection::Config>>
ConfigSelection::chooseByTrials(const LaunchBinding &binding,
                                const LaunchSteps &steps, TuningKey key,
                                bool &isKnown) {
  // The reference executor's times say nothing about a configuration.
  bool isInterp = binding.device == Device::interp();
  const Context::State &context = binding.kernel.context;
  ConfigChooser *chooser = isInterp          ? nullptr
                           : context.chooser ? context.chooser.get()
                                             : configChooser();
  if (chooser) {
    if (auto found = chooser->find(key, description)) {
      isKnown = true;
      return copyOf(*found);
    }
  }
  Expected<std::vector<size_t>> usable = pruned(binding);
  if (!usable.ok()) {
    return usable.failure();
  }
  if (usable->empty()) {
    return launchFailure(
        binding.kernel,
        "no @triton.autotune configuration has the given values",
        "leave the tuned parameters out, or give all of them");
  }
  bool isAsked = chooser && (chooser->searches() || chooser->wantsSole());
  if (isInterp || (usable->size() == 1 && !isAsked)) {
    return copyOf(configs[usable->front()].source);
  }
  Trials trials(*this, binding, steps, std::move(key), *usable);
  Expected<size_t> choice =
      chooser ? trials.choose(*chooser) : trials.firstThatCompiles();
  if (!choice.ok()) {
    return choice.failure();
  }
  if (logEnabled(LogTopic::Tune)) {
    logLine(LogTopic::Tune,
            description.name + " uses " + describe(trials.config(*choice)) +
                (chooser ? ""
                         : ", the first that compiles: this program has no "
                           "tuner (docs/Tune.md)"));
  }
  return copyOf(trials.config(*choice));
}

Status ConfigSelection::runHooks(const Config &config, LaunchBinding &binding,
                                 HookedArguments &hooked, bool isFirst) {
  if (isFirst && configs.size() > 1) {
    Expected<Actions> actions = actionsBefore(config, true, binding);
    Status status =
        actions.ok() ? perform(*actions, binding, hooked) : actions.status();
    if (!status.ok()) {
      return status;
    }
  }
  if (!config.hasHook()) {
    return Status::success();
  }
  auto actions = actionsOf(HookRequest::Hook::Config, config, false, binding);
  return actions.ok() ? perform(**actions, binding, hooked) : actions.status();
}

void detail::useConfigTrials() { ConfigSelection::useTrials(); }

void ConfigSelection::useTrials() {
  static constexpr TrialCode code = {&ConfigSelection::chooseByTrials,
                                     &ConfigSelection::runHooks};
  trialCode = &code;
}

} // namespace nereid
