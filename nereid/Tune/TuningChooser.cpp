//===- TuningChooser.cpp - Choices kept, found, or made -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/TuningChooser.h"

#include "nereid/Support/Log.h"

#include <algorithm>

namespace nereid::tune {

static constexpr const char *searched = "search";

/// Empty, or why a kept configuration cannot be one of the kernel's: the file
/// was changed by hand.
static std::string mismatch(const TuningRecord &record,
                            std::span<const ConfigDescription> list) {
  const ConfigDescription &own = record.config;
  if (list.empty()) {
    return "the kernel has no configurations";
  }
  if (record.candidates != searched) {
    bool isIn = std::any_of(list.begin(), list.end(), [&](const auto &config) {
      return config.values == own.values && config.options == own.options;
    });
    return isIn ? "" : describe(own) + " is none of its configurations";
  }
  for (const auto &[name, value] : own.values) {
    auto known = list[0].values.find(name);
    if (known == list[0].values.end() ||
        known->second.value.index() != value.value.index()) {
      return name + " is " + value.str();
    }
  }
  constexpr uint32_t mostWarps = 32;
  uint32_t warps = own.options.numWarps;
  bool isUsual = own.values.size() == list[0].values.size() && warps &&
                 warps <= mostWarps && !(warps & (warps - 1));
  return isUsual ? "" : describe(own) + " cannot be launched";
}

/// What a search found beats every list. Otherwise the list must be the one
/// that was chosen from.
bool TuningChooser::isGood(const TuningRecord &record,
                           std::span<const ConfigDescription> list) const {
  if (completes && record.isStopped) {
    return false;
  }
  bool isCandidate = record.candidates == searched ||
                     (!searches() && record.candidates == hashOf(list));
  std::string wrong = isCandidate ? mismatch(record, list) : "";
  if (!wrong.empty()) {
    warnOnce("the kept choice of '" + record.kernel + "' is ignored: " + wrong);
  }
  return isCandidate && wrong.empty();
}

void TuningChooser::remember(Choice choice) {
  std::lock_guard lock(mutex);
  latest_ = std::move(choice);
}

TuningStore TuningChooser::kept() const {
  TuningStore kept = TuningStore::ofThisUser();
  return kept.isUsable() || spareFolder.empty() ? kept
                                                : TuningStore(spareFolder);
}

std::optional<ConfigDescription>
TuningChooser::find(const TuningKey &key, const KernelDescription &kernel) {
  int64_t begin = options.clock->now();
  if (again) {
    return std::nullopt;
  }
  std::optional<TuningRecord> record =
      TuningStore::ofThisUser().find(recordOf(key));
  if (!record || !isGood(*record, kernel.configs)) {
    return std::nullopt;
  }
  ConfigDescription config = record->config;
  remember({std::move(*record), true, options.clock->millisecondsSince(begin)});
  return config;
}

/// The trial of a configuration, which may be in no list.
static size_t trialOf(LaunchTrials &trials, const ConfigDescription &config) {
  for (size_t i = 0; i < trials.size(); ++i) {
    if (trials.config(i).values == config.values &&
        trials.config(i).options == config.options) {
      return i;
    }
  }
  return trials.add(config);
}

std::string launchText(LaunchTrials &trials) {
  std::string text = trials.arguments();
  for (size_t i = 0; i < trials.size(); ++i) {
    Expected<std::array<int32_t, 3>> grid = trials.grid(i);
    for (int32_t size : grid.ok() ? *grid : std::array<int32_t, 3>{}) {
      text += "," + std::to_string(size);
    }
  }
  return text;
}

/// A launch goes on: its program has asked for results, not for a choice.
void TuningChooser::warn(const TuningRecord &record) const {
  if (!saysItself) {
    warnOnce(record.kernel + ": " + record.doubt + "; " +
             describe(record.config) +
             " is launched, and no choice is kept. Configurations of "
             "@triton.autotune must compute the same: nereid tune shows what "
             "each does");
  }
}

Expected<size_t> TuningChooser::choose(LaunchTrials &trials) {
  int64_t begin = options.clock->now();
  TuningStore kept = this->kept();
  TuningRecord record = recordOf(trials.key());
  TuningStore::Lock lock(kept, record);
  // Another process may have made it while this one waited.
  if (auto known = again ? std::nullopt : kept.find(record);
      known && isGood(*known, trials.kernel().configs)) {
    size_t trial = trialOf(trials, known->config);
    Status status = trials.compile(trial);
    if (!status.ok()) {
      return status;
    }
    remember(
        {std::move(*known), true, options.clock->millisecondsSince(begin)});
    return trial;
  }
  Observer silent;
  Journal journal = kept.journal(record);
  // The workers of one command have a folder in common.
  if (again && spareFolder.empty()) {
    journal.forget();
  }
  journal.claim(launchText(trials) + (again ? spareFolder : ""));
  Tuner tuner(trials, options, journal, observer ? *observer : silent);
  Expected<size_t> choice = tuner.run();
  if (!choice.ok()) {
    // The next process needs it only where this one cannot go on.
    if (!tuner.isDeviceLost()) {
      journal.forget();
    }
    return choice;
  }
  record.candidates = searches() ? searched : hashOf(trials.kernel().configs);
  record.config = trials.config(*choice);
  record.ms = tuner.milliseconds(*choice);
  record.seconds = options.clock->secondsSince(begin);
  record.trials = tuner.records();
  const Verdict &verdict = tuner.verdict();
  record.rivals = verdict.rivals;
  record.twins = verdict.twins;
  record.untried = verdict.untried;
  record.isStopped = verdict.isStopped || verdict.untried;
  record.remark = verdict.remark;
  record.doubt = verdict.doubt;
  if (!record.doubt.empty()) {
    journal.forget();
    warn(record);
    remember(
        {std::move(record), false, options.clock->millisecondsSince(begin)});
    return choice;
  }
  // What cannot be kept is used all the same; a warning has said so.
  (void)kept.keep(record).ok();
  remember({std::move(record), false, options.clock->millisecondsSince(begin)});
  return choice;
}

ConfigChooser &processTuner() {
  // Never destroyed: kernels in static objects may launch until the end.
  static auto *chooser = new TuningChooser;
  return *chooser;
}

} // namespace nereid::tune
