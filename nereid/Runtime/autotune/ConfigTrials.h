//===- ConfigTrials.h - Timing of configurations ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_AUTOTUNE_CONFIGTRIALS_H
#define NEREID_RUNTIME_AUTOTUNE_CONFIGTRIALS_H

#include "nereid/Runtime/autotune/ConfigSelection.h"
#include "nereid/Runtime/launch/LaunchBinding.h"

namespace nereid {

/// Does to the launch's arguments what a hook asked for.
Status perform(std::span<const HookAction> actions, LaunchBinding &binding,
               HookedArguments &hooked);

/// The trials of one launch. Holds copies of what they write until all are
/// done.
class ConfigSelection::Trials {
public:
  Trials(ConfigSelection &selection, const LaunchBinding &binding,
         const LaunchSteps &steps)
      : selection(selection), binding(binding), steps(steps) {}

  /// One that does not compile here is no candidate.
  Expected<size_t> fastest(std::span<const size_t> candidates);

private:
  /// One configuration on its way.
  struct Trial {
    Trial(size_t config, const LaunchBinding &launch)
        : config(config), binding(launch) {}
    size_t config;
    LaunchBinding binding;
    HookedArguments hooked;
    Actions own, before, after; ///< what its hooks do
  };
  Status prepare(Trial &trial);
  Status save(const std::string &tensor);
  void saveActions(const Actions &actions, Status &status);
  Expected<double> runOnce(Trial &trial);
  Expected<double> medianMs(Trial &trial, double best);
  Status restore(bool all);

  struct Saved {
    std::string name;
    Tensor tensor, copy;
    bool afterEachRun; ///< named by restore_value
  };

  ConfigSelection &selection;
  const LaunchBinding &binding;
  const LaunchSteps &steps;
  std::vector<Saved> saved;
};

} // namespace nereid

#endif // NEREID_RUNTIME_AUTOTUNE_CONFIGTRIALS_H
