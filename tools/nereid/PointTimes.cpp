//===- PointTimes.cpp - Every provider, timed at one point ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointTimes.h"

#include "BenchPoint.h"
#include "ExternalProvider.h"
#include "nereid/CommandLine/Interruption.h"

#include <algorithm>
#include <cmath>

namespace nereid {

/// So many elements are compared of what has more.
static constexpr int64_t mostCompared = int64_t{1} << 24;

static std::vector<double> leading(const Tensor &tensor, int64_t count) {
  return tensor.flatten().slice(0, 0, count).toFloat64();
}

static double largestDifference(const std::vector<double> &a,
                                const std::vector<double> &b) {
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    bool isSame = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    double off = isSame ? 0 : std::fabs(a[i] - b[i]);
    largest = std::isnan(off) ? INFINITY : std::max(largest, off);
  }
  return largest;
}

namespace {

/// Times every provider at one point.
class PointBench {
public:
  PointBench(const BenchPlan &plan, const BenchOptions &options,
             const VariableValues &values, BetweenPoints &between);
  std::vector<bench::Row> run(const std::function<void(double)> &progress);

private:
  /// Of one device.
  struct Side {
    std::unique_ptr<PointArrays> arrays;
    std::unique_ptr<bench::Measurement> measurement;
    /// What the first provider writes, as it was before.
    std::map<std::string, Tensor> before;
    size_t providers = 0;
  };
  struct Entry {
    Side *side;
    std::unique_ptr<BoundProvider> bound;
    std::unique_ptr<LibraryProvider> library = nullptr;
    std::unique_ptr<PythonProvider> python = nullptr;
    size_t contender = 0;
    std::optional<bench::Times> times = std::nullopt; ///< of another process
    std::vector<double> results;
  };
  void bind(const ProviderText &provider);
  void runOnce(const ProviderText &provider, Entry &entry);
  std::vector<double> resultsOf(const Entry &entry) const;
  struct Difference {
    double largest = 0;
    bool isLarge = false; ///< more than rounding explains
  };
  std::optional<Difference> differenceOf(size_t index) const;
  Difference judged(const std::vector<double> &ours,
                    const std::vector<double> &theirs) const;
  double tolerance() const;

  const BenchPlan &plan;
  const BenchOptions &options;
  const VariableValues &values;
  BetweenPoints &between;
  std::map<std::string, Side> sides; ///< by device
  std::deque<Entry> entries;         // runs refer to them
  std::vector<std::string> written;
};

} // namespace

PointBench::PointBench(const BenchPlan &plan, const BenchOptions &options,
                       const VariableValues &values, BetweenPoints &between)
    : plan(plan), options(options), values(values), between(between) {
  for (const ProviderText &provider : plan.providers) {
    bind(provider);
  }
}

void PointBench::bind(const ProviderText &provider) {
  Side &side = sides[provider.device.str()];
  Side &main = sides[plan.providers[0].device.str()];
  if (!side.arrays) {
    bool isMain = &side == &main;
    side.arrays =
        std::make_unique<PointArrays>(values, provider.device, options.seed,
                                      isMain ? nullptr : main.arrays.get());
    if (isMain) {
      side.arrays->add(plan.arrays);
    }
  }
  ++side.providers;
  Entry &entry = entries.emplace_back();
  entry.side = &side;
  entry.bound = std::make_unique<BoundProvider>(provider, *side.arrays);
  if (!provider.external) {
    return;
  }
  if (provider.external->kind == "lib") {
    entry.library = std::make_unique<LibraryProvider>(
        *provider.external, ExternalValues(plan, *side.arrays), *side.arrays);
    return;
  }
  --side.providers; // takes time of its own
  entry.python = std::make_unique<PythonProvider>(
      *provider.external, options, between.processes[provider.name]);
}

/// The run that compiles is also the one whose results are looked at.
void PointBench::runOnce(const ProviderText &provider, Entry &entry) {
  Side &side = *entry.side;
  for (const auto &[key, tensor] : side.before) {
    side.arrays->get(key).copyFrom(tensor);
  }
  std::string point;
  for (const auto &[name, value] : values) {
    point += " " + name + "=" + value;
  }
  if (entry.python) {
    try {
      PythonProvider::Answer answer = entry.python->measure(
          provider.name, ExternalValues(plan, *side.arrays), *side.arrays,
          plan.exact ? std::vector<std::string>{plan.output} : written,
          mostCompared);
      entry.times = answer.times;
      entry.results = std::move(answer.results);
    } catch (const Error &error) {
      // The other providers' times stay.
      entry.times.emplace();
      entry.times->name = provider.name;
      entry.times->failure = error.failure();
    }
    return;
  }
  auto run = [&entry](size_t turn) {
    if (entry.library) {
      entry.library->run(turn);
    } else {
      entry.bound->run(turn);
    }
  };
  entry.contender = side.measurement->add(
      {provider.name, run, nullptr, nullptr, provider.name + point});
  if (!side.measurement->times(entry.contender).failure) {
    entry.results = resultsOf(entry);
  }
}

std::vector<double> PointBench::resultsOf(const Entry &entry) const {
  if (plan.exact) {
    return leading(entry.side->arrays->get(plan.output), mostCompared);
  }
  std::vector<double> results;
  for (const std::string &key :
       plan.reference.empty() ? std::vector<std::string>() : written) {
    std::vector<double> more =
        leading(entry.side->arrays->get(key), mostCompared);
    results.insert(results.end(), more.begin(), more.end());
  }
  return results;
}

/// Of the largest value: what the coarsest type that is written rounds off, and
/// sums in another order.
double PointBench::tolerance() const {
  double largest = 0;
  for (const std::string &key :
       plan.exact ? std::vector<std::string>{plan.output} : written) {
    DType type = entries[0].side->arrays->get(key).dtype();
    largest = std::max(largest, !isFloat(type)        ? 0
                                : byteSize(type) == 8 ? 1e-9
                                : byteSize(type) == 4 ? 2e-3
                                : type == f16         ? 1e-2
                                : byteSize(type) == 2 ? 5e-2
                                                      : 0.25);
  }
  return largest;
}

PointBench::Difference
PointBench::judged(const std::vector<double> &ours,
                   const std::vector<double> &theirs) const {
  double largest = 0;
  for (double value : theirs) {
    largest = std::max(largest, std::isfinite(value) ? std::fabs(value) : 0);
  }
  double off = largestDifference(ours, theirs);
  return {off, off > tolerance() * largest};
}

std::optional<PointBench::Difference>
PointBench::differenceOf(size_t index) const {
  const Entry &entry = entries[index];
  if (entry.results.empty()) {
    return std::nullopt;
  }
  if (plan.exact) {
    return judged(entry.results, plan.exact(*entries[0].side->arrays));
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    if (plan.providers[i].name == plan.reference && i != index &&
        !entries[i].results.empty()) {
      return judged(entry.results, entries[i].results);
    }
  }
  return std::nullopt;
}

std::vector<bench::Row>
PointBench::run(const std::function<void(double)> &progress) {
  bench::MeasureOptions measuring;
  measuring.caches = options.isWarm ? bench::Caches::Warm : bench::Caches::Cold;
  measuring.progress = progress;
  measuring.stops = [] { return Interruption::signal() != 0; };
  // A failure is the contender's own, and reported by it.
  try {
    written = entries[0].bound->written();
  } catch (const Error &) {
  }
  for (auto &[device, side] : sides) {
    measuring.seconds = options.seconds * double(side.providers);
    if (!options.isWarm) {
      side.arrays->makeSets();
      auto &buffer = between.buffers[device];
      buffer = buffer ? buffer : std::make_shared<Tensor>();
      measuring.buffer = buffer;
    }
    side.measurement =
        std::make_unique<bench::Measurement>(side.arrays->device, measuring);
    if (entries.size() > 1) {
      for (const std::string &key : written) {
        if (side.arrays->has(key)) {
          side.before.emplace(key, side.arrays->get(key).clone());
        }
      }
    }
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    runOnce(plan.providers[i], entries[i]);
  }
  std::vector<std::optional<Difference>> differences;
  for (size_t i = 0; i < entries.size(); ++i) {
    differences.push_back(differenceOf(i));
  }
  for (auto &[device, side] : sides) {
    side.measurement->run();
  }
  std::vector<bench::Row> rows;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry &entry = entries[i];
    bench::Row row{{},
                   entry.times
                       ? *entry.times
                       : entry.side->measurement->times(entry.contender)};
    if (differences[i]) {
      row.maxDifference = differences[i]->largest;
      row.differs = differences[i]->isLarge;
    }
    row.configuration = entries[i].bound->configuration();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<bench::Row>
timePoint(const BenchPlan &plan, const BenchOptions &options,
          const VariableValues &values, BetweenPoints &between,
          const std::function<void(double share)> &progress) {
  try {
    return PointBench(plan, options, values, between).run(progress);
  } catch (const Error &error) {
    // An array that cannot be made, of a type that its generator refuses.
    std::vector<bench::Row> rows;
    for (const ProviderText &provider : plan.providers) {
      bench::Row row;
      row.times.name = provider.name;
      row.times.failure = error.failure();
      rows.push_back(std::move(row));
    }
    return rows;
  }
}

} // namespace nereid
