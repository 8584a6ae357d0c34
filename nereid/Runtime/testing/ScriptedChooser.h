//===- ScriptedChooser.h - Choices that a test has made ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TESTING_SCRIPTEDCHOOSER_H
#define NEREID_RUNTIME_TESTING_SCRIPTEDCHOOSER_H

#include "nereid/Runtime/autotune/ConfigChooser.h"

#include <optional>

namespace nereid {

/// Compiles all trials, runs each that compiles twice (once from fresh tensors,
/// once as a timed run), as a tuner would, and takes the first that `isWanted`,
/// else the first that ran.
class ScriptedChooser final : public ConfigChooser {
public:
  std::function<bool(const ConfigDescription &)> isWanted;
  int asked = 0; ///< calls of `choose`

  std::optional<ConfigDescription> find(const TuningKey &,
                                        const KernelDescription &) override {
    return std::nullopt;
  }
  bool searches() const override { return false; }

  Expected<size_t> choose(LaunchTrials &trials) override {
    ++asked;
    // All are compiled before any runs: what they write is copied before it is.
    std::vector<size_t> usable;
    std::optional<Failure> failure;
    for (size_t trial = 0; trial < trials.size(); ++trial) {
      Status status = trials.compile(trial);
      if (status.ok()) {
        usable.push_back(trial);
      } else {
        failure = failure ? failure : status.failure();
      }
    }
    for (size_t trial : usable) {
      Status status = trials.runFresh(trial, [](auto) {});
      status = status.ok() ? trials.before(trial) : status;
      status = status.ok() ? trials.run(trial) : status;
      status = status.ok() ? trials.after(trial) : status;
      if (!status.ok()) {
        return status;
      }
    }
    for (size_t trial : usable) {
      if (isWanted && isWanted(trials.config(trial))) {
        return trial;
      }
    }
    return usable.empty() ? Expected<size_t>(*failure) : usable[0];
  }
};

} // namespace nereid

#endif // NEREID_RUNTIME_TESTING_SCRIPTEDCHOOSER_H
