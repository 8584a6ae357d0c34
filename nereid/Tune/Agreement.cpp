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

static std::string difference(const Sample &a, const Sample &b,
                              double allowance) {
  bool isFloat = nereid::isFloat(a.dtype);
  double largest = 0;
  for (double value : b.values) {
    largest =
        std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
  }
  double tolerance =
      isFloat ? allowance * toleranceOf(a.dtype) * largest : allowance;
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
  return difference(a, b, 1);
}

std::string difference(const Results &a, const Results &b, double allowance) {
  for (const Sample &one : a) {
    auto other = std::find_if(b.begin(), b.end(), [&](const Sample &sample) {
      return sample.name == one.name;
    });
    if (other != b.end() && other->values.size() == one.values.size()) {
      std::string text = difference(one, *other, allowance);
      if (!text.empty()) {
        return text;
      }
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Agreement::add(size_t trial, const ConfigDescription &config,
                    Results results) {
  auto group = std::find_if(groups.begin(), groups.end(), [&](const Group &g) {
    return difference(results, g.results).empty();
  });
  if (group == groups.end()) {
    groups.push_back({std::move(results), {}, {}, {}, std::nullopt});
    group = groups.end() - 1;
  }
  ConfigDescription kind;
  kind.values = config.values;
  group->kinds.emplace(describe(kind), kind);
  group->names.emplace(trial, describe(config));
  group->trials.insert(trial);
}

void Agreement::remove(size_t trial) {
  for (Group &group : groups) {
    group.trials.erase(trial);
  }
  std::erase_if(groups,
                [](const Group &group) { return group.trials.empty(); });
}

std::vector<size_t> Agreement::unexplored() const {
  std::vector<size_t> result;
  for (const Group &group : groups) {
    if (groups.size() > 1 && !group.coverage) {
      result.push_back(*group.trials.begin());
    }
  }
  return result;
}

void Agreement::setCoverage(size_t trial, Coverage coverage) {
  for (Group &group : groups) {
    if (group.trials.contains(trial)) {
      group.coverage = std::move(coverage);
    }
  }
}

const Agreement::Group *Agreement::of(size_t trial) const {
  for (const Group &group : groups) {
    if (group.trials.contains(trial)) {
      return &group;
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Which group is right
//===----------------------------------------------------------------------===//

static void compareElements(const Coverage::Elements &a,
                            const Coverage::Elements &b, bool &hasMore,
                            bool &hasLess) {
  for (const auto &[name, own] : a) {
    auto other = b.find(name);
    if (other == b.end() || other->second.size() != own.size()) {
      continue;
    }
    for (size_t i = 0; i < own.size(); ++i) {
      hasMore |= own[i] && !other->second[i];
      hasLess |= !own[i] && other->second[i];
    }
  }
}

/// What `a` touches, against what `b` does.
Agreement::Order Agreement::compare(const Group &a, const Group &b) {
  bool hasMore = false, hasLess = false;
  if (a.coverage && b.coverage) {
    compareElements(a.coverage->written, b.coverage->written, hasMore, hasLess);
    compareElements(a.coverage->read, b.coverage->read, hasMore, hasLess);
  }
  return hasMore && hasLess ? Order::Other
         : hasMore          ? Order::More
         : hasLess          ? Order::Less
                            : Order::Same;
}

/// Does no value of a parameter that only `a` has explain all of `a`? With
/// `asMany`, `a` also has as many of such values as `b`.
bool Agreement::isSeveral(const Group &a, const Group &b, bool asMany) {
  std::map<std::string, std::set<std::string>> ofA, ofB;
  for (auto [group, values] : {std::pair(&a, &ofA), std::pair(&b, &ofB)}) {
    for (const auto &[text, kind] : group->kinds) {
      for (const auto &[name, value] : kind.values) {
        (*values)[name].insert(value.str());
      }
    }
  }
  bool hasCause = false;
  for (const auto &[name, own] : ofA) {
    const std::set<std::string> &others = ofB[name];
    bool isCause = std::none_of(own.begin(), own.end(), [&](const auto &value) {
      return others.contains(value);
    });
    hasCause |= isCause;
    if (isCause && (own.size() < 2 || (asMany && own.size() < others.size()))) {
      return false;
    }
  }
  return a.kinds.size() > 1 &&
         (hasCause || !asMany || a.kinds.size() >= b.kinds.size());
}

bool Agreement::beats(const Group &a, const Group &b) const {
  switch (compare(a, b)) {
  case Order::Less:
  case Order::Other:
    return false;
  case Order::More:
    return isSeveral(a, b, /*asMany=*/true);
  case Order::Same:
    break;
  }
  std::set<std::string> all, others;
  for (const Group &group : groups) {
    for (const auto &[text, kind] : group.kinds) {
      all.insert(text);
      if (&group != &a) {
        others.insert(text);
      }
    }
  }
  if (all.size() == 1) { // they differ in options alone
    return a.trials.size() > 1 && a.trials.size() > b.trials.size();
  }
  constexpr size_t overwhelming = 3;
  return a.kinds.size() > b.kinds.size() &&
         (isSeveral(a, b, /*asMany=*/false) ||
          a.kinds.size() >= overwhelming * others.size());
}

const Agreement::Group *Agreement::winner() const {
  for (const Group &group : groups) {
    bool isBest =
        std::all_of(groups.begin(), groups.end(), [&](const Group &b) {
          return &b == &group || beats(group, b);
        });
    if (isBest) {
      return &group;
    }
  }
  return nullptr;
}

bool Agreement::agrees(size_t trial) const {
  const Group *best = winner();
  return !best || best->trials.contains(trial);
}

const std::set<size_t> &Agreement::likeliest() const {
  const Group *best = &groups.front();
  for (const Group &group : groups) {
    Order order = compare(group, *best);
    bool isMore = order == Order::More;
    bool isLess = order == Order::Less;
    if (isMore || (!isLess && group.kinds.size() > best->kinds.size())) {
      best = &group;
    }
  }
  return best->trials;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// "it writes 8 of the 1024 elements of 'y' that the others write", or empty.
static std::string shortage(const Coverage::Elements &own,
                            const Coverage::Elements &others,
                            const std::string &verb) {
  for (const auto &[name, all] : others) {
    auto found = own.find(name);
    if (found == own.end() || found->second.size() != all.size()) {
      continue;
    }
    size_t both = 0, most = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      most += all[i];
      both += all[i] && found->second[i];
    }
    if (both < most) {
      return "it " + verb + "s " + std::to_string(both) + " of the " +
             std::to_string(most) + " elements of '" + name + "' that others " +
             verb;
    }
  }
  return "";
}

static std::string shortage(const std::optional<Coverage> &own,
                            const std::optional<Coverage> &others) {
  if (!own || !others) {
    return "";
  }
  std::string text = shortage(own->written, others->written, "write");
  return text.empty() ? shortage(own->read, others->read, "read") : text;
}

std::string Agreement::reason(size_t trial) const {
  const Group *best = winner(), *own = of(trial);
  if (groups.size() < 2 || !own || own == best) {
    return "";
  }
  if (best) {
    std::string less = shortage(own->coverage, best->coverage);
    return "its results are not those of " +
           std::to_string(best->trials.size()) +
           (best->trials.size() == 1 ? " other: " : " others: ") +
           (less.empty() ? difference(own->results, best->results) +
                               "; it has a race, or a block size that the "
                               "kernel does not allow"
                         : less);
  }
  const Group &other = own == &groups[0] ? groups[1] : groups[0];
  std::string less = shortage(own->coverage, other.coverage);
  return "configurations disagree, and nothing says which is right: " +
         (less.empty() ? difference(own->results, other.results) : less);
}

std::string Agreement::doubt() const {
  if (!isUndecided()) {
    return "";
  }
  const Group &a = groups[0], &b = groups[1];
  std::string less = shortage(a.coverage, b.coverage);
  std::string more = shortage(b.coverage, a.coverage);
  return "configurations disagree, and nothing says which is right: " +
         a.names.begin()->second + " and " + b.names.begin()->second + ": " +
         (!less.empty()   ? "of the first, " + less
          : !more.empty() ? "of the second, " + more
                          : difference(a.results, b.results));
}

const Results &Agreement::results(size_t trial) const {
  return of(trial)->results;
}

} // namespace nereid::tune
