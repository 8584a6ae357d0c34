//===- ConfigSelection.cpp - The configuration of a launch ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/autotune/ConfigTrials.h"

#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/launch/LaunchOptions.h"
#include "nereid/Runtime/launch/Specialize.h"
#include "nereid/Runtime/library/Precompiled.h"

#include <algorithm>

namespace nereid {

constinit std::atomic<const ConfigSelection::TrialCode *>
    ConfigSelection::trialCode = nullptr;

static std::optional<size_t> indexOf(const KernelDescription &description,
                                     const std::string &name) {
  for (size_t i = 0; i < description.parameters.size(); ++i) {
    if (description.parameters[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

ConfigSelection::Config::Config(const KernelDescription &kernel,
                                ConfigDescription given,
                                std::optional<size_t> index)
    : source(std::move(given)), index(index) {
  for (const auto &[name, value] : source.values) {
    if (std::optional<size_t> parameter = indexOf(kernel, name)) {
      values.emplace_back(*parameter, Argument(value));
    }
  }
}

ConfigSelection::ConfigSelection(const KernelDescription &description)
    : description(description) {
  for (const ConfigDescription &source : description.configs) {
    configs.emplace_back(description, source, configs.size());
    for (const auto &[parameter, value] : configs.back().values) {
      tuned.push_back(parameter);
    }
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
  CompileOptions options = config.source.options;
  const CompileOptions &own = binding.options;
  options.checks |= own.checks;
  options.fpFusion &= own.fpFusion;
  options.cooperativeGrid = own.cooperativeGrid;
  options.dependentLaunch = own.dependentLaunch;
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
  keep(GivenWavesPerUnit, &CompileOptions::wavesPerUnit);
  keep(GivenMatrixSize, &CompileOptions::matrixSize);
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
          uint64_t{options.maxRegisters} << 24 |
          uint64_t{options.minRegisters} << 32 |
          uint64_t{options.wavesPerUnit} << 40 |
          uint64_t{options.matrixSize} << 48);
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

TuningKey ConfigSelection::tuningKey(const LaunchBinding &binding) const {
  TuningKey key;
  key.kernel = description.name;
  key.file = binding.kernel.source.path;
  key.sourceHash = description.sourceHash;
  key.device = binding.device;
  auto add = [&](size_t parameter) {
    // Of a tensor the dtype counts, which is noted below.
    const Argument *argument = binding.get(parameter);
    if (argument && argument->kind != Argument::Kind::Tensor) {
      key.values[description.parameters[parameter].name] = argument->toStatic();
    }
  };
  std::for_each(keyParameters.begin(), keyParameters.end(), add);
  for (size_t parameter : tuned) {
    if (binding.isGiven(parameter)) {
      add(parameter);
    }
  }
  const CompileOptions &options = binding.options;
  auto addOption = [&](GivenOption bit, const char *name, uint32_t value) {
    if (binding.givenOptions & bit) {
      key.values[name] = int64_t{value};
    }
  };
  addOption(GivenWarps, "num_warps", options.numWarps);
  addOption(GivenStages, "num_stages", options.numStages);
  addOption(GivenCtas, "num_ctas", options.numCtas);
  addOption(GivenMaxRegisters, "maxnreg", options.maxRegisters);
  addOption(GivenMinRegisters, "minnreg", options.minRegisters);
  addOption(GivenWavesPerUnit, "waves_per_eu", options.wavesPerUnit);
  addOption(GivenMatrixSize, "matrix_instr_nonkdim", options.matrixSize);
  forEachTensor(binding, [&](const std::string &name, const Tensor &tensor) {
    key.dtypes[name] = tensor.dtype();
  });
  return key;
}

void ConfigSelection::applyFirst(LaunchBinding &binding) const {
  std::vector<size_t> usable = candidates(binding);
  if (!usable.empty()) {
    apply(binding, configs[usable[0]]);
  }
}

/// With the index of the decorator's configuration that it equals, if any: that
/// one's hook is its own.
std::unique_ptr<ConfigSelection::Config>
ConfigSelection::copyOf(const ConfigDescription &config) const {
  for (const Config &known : configs) {
    if (known.source.values == config.values &&
        known.source.options == config.options) {
      return std::make_unique<Config>(description, known.source, known.index);
    }
  }
  return std::make_unique<Config>(description, config, std::nullopt);
}

Expected<std::unique_ptr<ConfigSelection::Config>>
ConfigSelection::choose(const LaunchBinding &binding, const LaunchSteps &steps,
                        bool &isKnown) {
  TuningKey key = tuningKey(binding);
  if (const auto &precompiled = binding.kernel.precompiled) {
    isKnown = true;
    return copyOf(nearestChoice(precompiled->kernel, key));
  }
  const TrialCode *code = trialCode;
  if (!code) {
    return noCompiler("kernel '" + description.name + "'",
                      binding.kernel.context);
  }
  return (this->*code->choose)(binding, steps, std::move(key), isKnown);
}

Status ConfigSelection::prepareLaunch(const Config &config,
                                      LaunchBinding &binding,
                                      HookedArguments &hooked, bool isFirst) {
  apply(binding, config);
  const TrialCode *code = trialCode;
  return code ? (this->*code->runHooks)(config, binding, hooked, isFirst)
              : Status::success();
}

Status ConfigSelection::apply(LaunchBinding &binding, HookedArguments &hooked,
                              const LaunchSteps &steps) {
  if (namesEverything(binding)) {
    applyFirst(binding);
    return Status::success();
  }
  WordKey key = keyOf(binding);
  if (const Config *known = chosen.find(key)) {
    return prepareLaunch(*known, binding, hooked, false);
  }
  std::lock_guard lock(measuring);
  if (const Config *known = chosen.find(key)) {
    return prepareLaunch(*known, binding, hooked, false);
  }
  bool isKnown = false;
  Expected<std::unique_ptr<Config>> choice = choose(binding, steps, isKnown);
  if (!choice.ok()) {
    return choice.failure();
  }
  const Config &config = *chosen.insert(key, std::move(*choice));
  return prepareLaunch(config, binding, hooked, !isKnown);
}

} // namespace nereid
