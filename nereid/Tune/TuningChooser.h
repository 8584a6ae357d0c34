//===- TuningChooser.h - Choices kept, found, or made -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_TUNINGCHOOSER_H
#define NEREID_TUNE_TUNINGCHOOSER_H

#include "nereid/Tune/Tuner.h"

#include <mutex>

namespace nereid::tune {

/// Looks on the disk first; one process at a time tunes a key.
class TuningChooser : public ConfigChooser {
public:
  explicit TuningChooser(TunerOptions options = {},
                         Observer *observer = nullptr)
      : options(std::move(options)), observer(observer) {}

  std::optional<ConfigDescription>
  find(const TuningKey &key, const KernelDescription &kernel) override;
  bool searches() const override { return options.searchSeconds > 0; }
  bool wantsSole() const override { return measuresSole; }
  Expected<size_t> choose(LaunchTrials &trials) override;

  struct Choice {
    TuningRecord record;
    bool wasFound = false; ///< made earlier, perhaps by another process
    double readyMs = 0;    ///< until it was known
  };
  /// The latest.
  const std::optional<Choice> &latest() const { return latest_; }
  /// Tune again what is known.
  bool again = false;
  /// Go on with what was stopped; else a launch takes what it had found.
  bool completes = false;
  /// A sole configuration is measured, too.
  bool measuresSole = false;
  /// The caller reports doubts in `latest()` itself.
  bool saysItself = false;
  /// Used where choices are not kept: for what one worker tells the next.
  std::string spareFolder;

private:
  void remember(Choice choice);
  TuningStore kept() const;
  void warn(const TuningRecord &record) const;
  bool isGood(const TuningRecord &record,
              std::span<const ConfigDescription> list) const;

  TunerOptions options;
  Observer *observer;
  std::mutex mutex; ///< of the latest: kernels are launched by many threads
  std::optional<Choice> latest_;
};

/// What a journal is of: the arguments, and the grids of the list.
std::string launchText(LaunchTrials &trials);

/// What a program that includes nereid/nereid.h has. Made on first use.
ConfigChooser &processTuner();

} // namespace nereid::tune

#endif // NEREID_TUNE_TUNINGCHOOSER_H
