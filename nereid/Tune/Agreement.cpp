//===- Agreement.cpp - Which configurations compute the same --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/Agreement.h"

#include <algorithm>
#include <cmath>

namespace nereid::tune {

Results resultsOf(std::span<const NamedTensor> tensors) {
  constexpr int64_t most = 1 << 19, chunks = 256;
  Results results;
  for (const NamedTensor &one : tensors) {
    Sample sample{one.name, one.tensor.dtype(), {}};
    if (one.tensor.numel() <= most || !one.tensor.isContiguous()) {
      sample.values = one.tensor.toFloat64();
    } else {
      Tensor flat = one.tensor.flatten();
      int64_t step = flat.numel() / chunks;
      for (int64_t i = 0; i < chunks; ++i) {
        // The last chunk ends where the tensor does.
        int64_t begin =
            i + 1 < chunks ? i * step : flat.numel() - most / chunks;
        std::vector<double> part =
            flat.slice(0, begin, begin + most / chunks).toFloat64();
        sample.values.insert(sample.values.end(), part.begin(), part.end());
      }
    }
    results.push_back(std::move(sample));
  }
  return results;
}

/// Of the largest element: what sums in another order may differ by, a few
/// units in the last place of the type that is stored, and of float32 sums of
/// thousands of terms.
static double toleranceOf(DType dtype) {
  switch (byteSize(dtype)) {
  case 8:
    return 0x1p-40;
  case 4:
    return 0x1p-13;
  case 2:
    return dtype == DType::BFloat16 ? 0x1p-6 : 0x1p-9;
  default:
    return 0x1p-2;
  }
}

static std::string difference(const Sample &a, const Sample &b) {
  bool isFloat = nereid::isFloat(a.dtype);
  double largest = 0;
  for (double value : b.values) {
    largest =
        std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
  }
  double tolerance = isFloat ? toleranceOf(a.dtype) * largest : 1;
  size_t beyond = 0, within = 0, count = a.values.size();
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    double x = a.values[i], y = b.values[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      continue;
    }
    double apart = std::fabs(x - y);
    bool isNear = apart <= tolerance;
    within += isNear;
    beyond += !isNear;
    worst = std::isnan(apart) ? HUGE_VAL : std::max(worst, apart);
  }
  // An integer may be rounded the other way, seldom.
  constexpr size_t seldom = 50;
  if (!isFloat && within * seldom > count) {
    beyond += within;
  }
  if (!beyond) {
    return "";
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%zu of %zu elements, by up to %.3g",
                beyond, count, worst);
  return "'" + a.name + "' differs in " + text;
}

std::string difference(const Results &a, const Results &b) {
  for (const Sample &one : a) {
    auto other = std::find_if(b.begin(), b.end(), [&](const Sample &sample) {
      return sample.name == one.name;
    });
    if (other != b.end() && other->values.size() == one.values.size()) {
      std::string text = difference(one, *other);
      if (!text.empty()) {
        return text;
      }
    }
  }
  return "";
}

void Agreement::add(size_t trial, const ConfigDescription &config,
                    Results results) {
  auto group = std::find_if(groups.begin(), groups.end(), [&](const Group &g) {
    return difference(results, g.results).empty();
  });
  if (group == groups.end()) {
    groups.push_back({std::move(results), {}, {}});
    group = groups.end() - 1;
  }
  ConfigDescription kind;
  kind.values = config.values;
  group->kinds.insert(describe(kind));
  group->trials.insert(trial);
}

const Agreement::Group *Agreement::of(size_t trial) const {
  for (const Group &group : groups) {
    if (group.trials.contains(trial)) {
      return &group;
    }
  }
  return nullptr;
}

const Agreement::Group *Agreement::largest() const {
  auto size = [](const Group &group) {
    return std::pair(group.kinds.size(), group.trials.size());
  };
  const Group *best = nullptr;
  bool isAlone = true;
  std::set<std::string> kinds;
  for (const Group &group : groups) {
    kinds.insert(group.kinds.begin(), group.kinds.end());
    if (!best || size(group) > size(*best)) {
      best = &group;
      isAlone = true;
    } else if (size(group) == size(*best)) {
      isAlone = false;
    }
  }
  bool isAccident = best && best->kinds.size() == 1 && kinds.size() > 1;
  return isAlone && !isAccident ? best : nullptr;
}

bool Agreement::agrees(size_t trial) const {
  const Group *best = largest();
  return !best || best->trials.contains(trial);
}

std::string Agreement::reason(size_t trial) const {
  const Group *best = largest(), *own = of(trial);
  if (groups.size() < 2 || !own || own == best) {
    return "";
  }
  if (best) {
    return "its results are not those of " +
           std::to_string(best->trials.size()) +
           " others: " + difference(own->results, best->results) +
           "; it has a race, or a block size that the kernel does not allow";
  }
  const Group &other = own == &groups[0] ? groups[1] : groups[0];
  return "configurations disagree, and nothing says which is right: " +
         difference(own->results, other.results);
}

const Results &Agreement::results(size_t trial) const {
  return of(trial)->results;
}

} // namespace nereid::tune
