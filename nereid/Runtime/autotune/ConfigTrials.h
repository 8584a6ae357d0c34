//===- ConfigTrials.h - Runs of configurations -----------------*- C++ -*-===//
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
class ConfigSelection::Trials final : public LaunchTrials {
public:
  Trials(ConfigSelection &selection, const LaunchBinding &binding,
         const LaunchSteps &steps, TuningKey key,
         std::span<const size_t> candidates);

  /// The chooser's; puts the tensors back.
  Expected<size_t> choose(ConfigChooser &chooser);
  /// In the decorator's order, without running any: the rule of a program that
  /// has no chooser.
  Expected<size_t> firstThatCompiles();

  const TuningKey &key() const override { return key_; }
  const KernelDescription &kernel() const override {
    return selection.description;
  }
  size_t size() const override { return trials.size(); }
  const ConfigDescription &config(size_t trial) const override {
    return trials[trial].config.source;
  }
  size_t add(ConfigDescription config) override;
  std::string arguments() const override;
  Expected<std::array<int32_t, 3>> grid(size_t trial) override;
  Status compile(size_t trial) override;
  Status runFresh(
      size_t trial,
      const std::function<void(std::span<const NamedTensor>)> &look) override;
  Expected<ReferenceRun> runReference(size_t trial, uint64_t budget,
                                      bool isBackward) override;
  Status runFilled(
      size_t trial, double value,
      const std::function<void(std::span<const NamedTensor>)> &look) override;
  uint64_t codeOf(size_t trial) override;
  Status before(size_t trial) override;
  Status run(size_t trial) override;
  Status after(size_t trial) override;

private:
  /// One configuration on its way.
  struct Trial {
    Trial(const Config &config, const LaunchBinding &launch)
        : config(config), binding(launch) {}
    const Config &config;
    LaunchBinding binding;
    HookedArguments hooked;
    Actions own, before, after; ///< what its hooks do
    const KernelImage *image = nullptr;
    uint64_t codeHash = 0;
  };
  Status prepareHooks(Trial &trial);
  Status saveWritten(const Trial &trial);
  Status save(const std::string &tensor);
  void saveActions(const Actions &actions, Status &status);
  Status restore(bool all);
  Status
  runAndLook(size_t trial,
             const std::function<void(std::span<const NamedTensor>)> &look);

  struct Saved {
    std::string name;
    Tensor tensor, copy;
    bool afterEachRun; ///< named by restore_value
  };

  ConfigSelection &selection;
  const LaunchBinding &binding;
  const LaunchSteps &steps;
  TuningKey key_;
  std::deque<Config> added;
  std::deque<Trial> trials;
  std::vector<Saved> saved;
};

} // namespace nereid

#endif // NEREID_RUNTIME_AUTOTUNE_CONFIGTRIALS_H
