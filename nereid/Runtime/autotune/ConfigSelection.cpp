//===- ConfigSelection.cpp - The fastest configuration, measured once -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/autotune/ConfigTrials.h"

#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/launch/LaunchOptions.h"
#include "nereid/Runtime/launch/Specialize.h"

#include <algorithm>

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
    config.hasHook = source.hasHook;
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
  CompileOptions options = config.options;
  const CompileOptions &own = binding.options;
  options.checks |= own.checks;
  options.fpFusion &= own.fpFusion;
  options.cooperativeGrid = own.cooperativeGrid;
  auto keep = [&](GivenOption bit, uint32_t CompileOptions::*option) {
    if (binding.givenOptions & bit) {
      options.*option = own.*option;
    }
  };
  keep(GivenWarps, &CompileOptions::numWarps);
  keep(GivenStages, &CompileOptions::numStages);
  keep(GivenCtas, &CompileOptions::numCtas);
  keep(GivenMaxRegisters, &CompileOptions::maxRegisters);
  keep(GivenMinRegisters, &CompileOptions::minRegisters);
  binding.options = options;
}

/// Configurations without values tune the options.
bool ConfigSelection::namesEverything(const LaunchBinding &binding) const {
  return tuned.empty() ? binding.givenOptions != 0
                       : std::all_of(tuned.begin(), tuned.end(), [&](size_t p) {
                           return binding.isGiven(p);
                         });
}

std::vector<size_t>
ConfigSelection::candidates(const LaunchBinding &binding) const {
  std::vector<size_t> result;
  for (size_t i = 0; i < configs.size(); ++i) {
    bool agrees = true;
    for (const auto &[parameter, value] : configs[i].values) {
      // A default is a value to fall back on, not a wish.
      agrees &= !binding.isGiven(parameter) ||
                binding.get(parameter)->toStatic() == value.toStatic();
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
          static_cast<uint64_t>(binding.device.index()) << 8 |
          uint64_t{binding.givenOptions} << 16);
  const CompileOptions &options = binding.options;
  key.add(uint64_t{options.numWarps} | uint64_t{options.numStages} << 8 |
          uint64_t{options.numCtas} << 16 |
          uint64_t{options.maxRegisters} << 32 |
          uint64_t{options.minRegisters} << 48);
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

Expected<size_t> ConfigSelection::choose(const LaunchBinding &binding,
                                         const LaunchSteps &steps) {
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
  // The reference executor's times say nothing about a configuration.
  if (usable->size() == 1 || binding.device == Device::interp()) {
    return usable->front();
  }
  return Trials(*this, binding, steps).fastest(*usable);
}

Status ConfigSelection::prepareLaunch(size_t config, LaunchBinding &binding,
                                      HookedArguments &hooked, bool isFirst) {
  apply(binding, configs[config]);
  if (isFirst && configs.size() > 1) {
    Expected<Actions> actions = actionsBefore(config, true, binding);
    Status status =
        actions.ok() ? perform(*actions, binding, hooked) : actions.status();
    if (!status.ok()) {
      return status;
    }
  }
  if (!configs[config].hasHook) {
    return Status::success();
  }
  auto actions = actionsOf(HookRequest::Hook::Config, config, false, binding);
  return actions.ok() ? perform(**actions, binding, hooked) : actions.status();
}

Status ConfigSelection::apply(LaunchBinding &binding, HookedArguments &hooked,
                              const LaunchSteps &steps) {
  if (namesEverything(binding)) {
    applyFirst(binding);
    return Status::success();
  }
  WordKey key = keyOf(binding);
  if (const size_t *known = chosen.find(key)) {
    return prepareLaunch(*known, binding, hooked, false);
  }
  std::lock_guard lock(measuring);
  if (const size_t *known = chosen.find(key)) {
    return prepareLaunch(*known, binding, hooked, false);
  }
  Expected<size_t> choice = choose(binding, steps);
  if (!choice.ok()) {
    return choice.failure();
  }
  chosen.insert(key, std::make_unique<size_t>(*choice));
  return prepareLaunch(*choice, binding, hooked, true);
}

std::string ConfigSelection::describe(size_t config) const {
  std::string text;
  for (const auto &[parameter, value] : configs[config].values) {
    text += description.parameters[parameter].name + "=" +
            value.toStatic().str() + " ";
  }
  return text + "num_warps=" + std::to_string(configs[config].options.numWarps);
}

} // namespace nereid
