//===- Search.cpp - Configurations beyond a list --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/Search.h"

#include <algorithm>

namespace nereid::tune {

static constexpr int64_t mostOfOne = 1 << 15, mostOfTwo = 1 << 16;

std::vector<std::string> openParameters(const KernelDescription &kernel,
                                        const std::vector<std::string> &given) {
  std::vector<std::string> open;
  for (const ParameterDescription &parameter : kernel.parameters) {
    auto isIn = [&](const std::vector<std::string> &names) {
      return std::find(names.begin(), names.end(), parameter.name) !=
             names.end();
    };
    if (parameter.isStatic && !parameter.defaultValue && !isIn(given) &&
        !isIn(kernel.heuristics)) {
      open.push_back(parameter.name);
    }
  }
  return open;
}

/// A number of groups or parts, and not a size of a block.
static bool isCount(const std::string &name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
  for (const char *word : {"GROUP", "SPLIT", "NUM", "UNROLL"}) {
    if (upper.find(word) != std::string::npos) {
      return true;
    }
  }
  return false;
}

StaticValue firstGuess(const std::string &parameter,
                       const SearchValues &given) {
  auto found = given.find(parameter);
  if (found != given.end()) {
    return found->second[found->second.size() / 2];
  }
  return isCount(parameter) ? 8 : 64;
}

SearchSpace::SearchSpace(const LaunchTrials &trials, const SearchValues &given)
    : values(given) {
  const TuningKey &key = trials.key();
  for (size_t i = 0; i < trials.size(); ++i) {
    for (const auto &[name, value] : trials.config(i).values) {
      if (std::holds_alternative<int64_t>(value.value)) {
        values.try_emplace(name);
      }
    }
  }
  std::erase_if(values, [&](const auto &entry) {
    return key.values.contains(entry.first);
  });
  bool isGpu = !key.device.isHost();
  variesWarps = isGpu && !key.values.contains("num_warps");
  variesStages = isGpu && !key.values.contains("num_stages");
  variesRegisters = isGpu && !key.values.contains("maxnreg") &&
                    !key.values.contains("minnreg");
}

static int64_t integerOf(const StaticValue &value) {
  auto *integer = std::get_if<int64_t>(&value.value);
  return integer ? *integer : 1;
}

/// Tiles of more than some sizes do not fit any register file, and take
/// seconds to compile.
bool SearchSpace::isPlausible(const ConfigDescription &config) const {
  std::vector<int64_t> sizes;
  for (const auto &[name, value] : config.values) {
    sizes.push_back(integerOf(value));
  }
  std::sort(sizes.rbegin(), sizes.rend());
  return sizes.empty() ||
         (sizes[0] <= mostOfOne &&
          (sizes.size() < 2 || sizes[0] * sizes[1] <= mostOfTwo));
}

std::vector<ConfigDescription> SearchSpace::seeds() const {
  // Sizes of blocks by how many there are: 64 x 64 x 32 is about as much work
  // for a program as 1024.
  size_t sizes = 0;
  for (const auto &[name, list] : values) {
    sizes += list.empty() && !isCount(name);
  }
  std::vector<int64_t> usual = {32, 64, 128};
  if (sizes == 1) {
    usual = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  } else if (sizes > 2) {
    usual = {32, 64};
  }
  std::vector<ConfigDescription> seeds(1);
  for (const auto &[name, list] : values) {
    std::vector<StaticValue> choices = list;
    if (list.empty() && isCount(name)) {
      choices = {firstGuess(name, {})};
    } else if (list.empty()) {
      choices.assign(usual.begin(), usual.end());
    }
    std::vector<ConfigDescription> more;
    for (const ConfigDescription &seed : seeds) {
      for (const StaticValue &choice : choices) {
        more.push_back(seed);
        more.back().values[name] = choice;
      }
    }
    constexpr size_t mostSeeds = 256;
    if (more.size() > mostSeeds) {
      break;
    }
    seeds = std::move(more);
  }
  // Those that the bound on the number left without a value get a guess.
  for (ConfigDescription &seed : seeds) {
    for (const auto &[name, list] : values) {
      seed.values.try_emplace(
          name,
          firstGuess(name, values.at(name).empty() ? SearchValues() : values));
    }
  }
  if (variesWarps) {
    std::vector<ConfigDescription> wider = seeds;
    for (ConfigDescription &seed : wider) {
      seed.options.numWarps = 8;
    }
    seeds.insert(seeds.end(), wider.begin(), wider.end());
  }
  std::erase_if(seeds, [&](const auto &seed) { return !isPlausible(seed); });
  return seeds;
}

std::vector<ConfigDescription>
SearchSpace::neighbours(const ConfigDescription &config) const {
  std::vector<ConfigDescription> result;
  auto add = [&](const ConfigDescription &changed) {
    if (isPlausible(changed)) {
      result.push_back(changed);
    }
  };
  ConfigDescription changed = config;
  changed.hasHook = false;
  for (const auto &[name, list] : values) {
    auto own = changed.values.find(name);
    if (own == changed.values.end()) {
      continue;
    }
    StaticValue before = own->second;
    int64_t size = integerOf(before);
    std::vector<StaticValue> steps = list;
    if (list.empty()) {
      steps = {size * 2};
      if (size > 1) {
        steps.emplace_back(size / 2);
      }
    }
    for (const StaticValue &step : steps) {
      own->second = step;
      if (!(step == before)) {
        add(changed);
      }
    }
    own->second = before;
    // A tile of the same area and another shape.
    for (const auto &[other, otherList] : values) {
      auto second = changed.values.find(other);
      if (!list.empty() || !otherList.empty() || other == name ||
          second == changed.values.end() || isCount(name) || isCount(other) ||
          integerOf(second->second) < 2) {
        continue;
      }
      StaticValue otherBefore = second->second;
      own->second = size * 2;
      second->second = integerOf(otherBefore) / 2;
      add(changed);
      own->second = before;
      second->second = otherBefore;
    }
  }
  auto addOption = [&](uint32_t CompileOptions::*option, uint32_t value) {
    uint32_t before = changed.options.*option;
    if (value != before) {
      changed.options.*option = value;
      add(changed);
      changed.options.*option = before;
    }
  };
  constexpr uint32_t mostWarps = 16, mostStages = 6;
  if (variesWarps) {
    addOption(&CompileOptions::numWarps,
              std::min(mostWarps, changed.options.numWarps * 2));
    addOption(&CompileOptions::numWarps,
              std::max(1u, changed.options.numWarps / 2));
  }
  if (variesStages) {
    addOption(&CompileOptions::numStages,
              std::min(mostStages, changed.options.numStages + 1));
    addOption(&CompileOptions::numStages,
              std::max(1u, changed.options.numStages - 1));
  }
  return result;
}

std::vector<ConfigDescription>
SearchSpace::wider(const ConfigDescription &config) const {
  constexpr int64_t most = 16;
  std::vector<ConfigDescription> result;
  for (const auto &[name, list] : values) {
    auto own = config.values.find(name);
    if (own == config.values.end() || !list.empty() || isCount(name)) {
      continue;
    }
    for (int64_t times = 2; times <= most; times *= 2) {
      ConfigDescription changed = config;
      changed.hasHook = false;
      changed.values[name] = integerOf(own->second) * times;
      if (isPlausible(changed)) {
        result.push_back(std::move(changed));
      }
    }
  }
  return result;
}

std::vector<ConfigDescription>
SearchSpace::registerLimits(const ConfigDescription &config) const {
  std::vector<ConfigDescription> result;
  if (variesRegisters) {
    for (uint32_t limit : {64u, 96u, 128u, 168u}) {
      result.push_back(config);
      result.back().hasHook = false;
      result.back().options.maxRegisters = limit;
    }
  }
  return result;
}

} // namespace nereid::tune
