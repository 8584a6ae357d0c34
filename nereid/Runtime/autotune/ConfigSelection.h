//===- ConfigSelection.h - The configuration of a launch --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// @triton.autotune lists configurations and names the arguments whose values
// select among them. At the first launch with a new combination of those values
// (and of the tensors' dtypes) a ConfigChooser chooses one of those that
// prune_configs_by leaves, by trials on the launch's own arguments; it is kept
// for this process. Without a ConfigChooser it is the first that compiles.
//
// Nothing is tried, and no hook runs, when the launch names every tuned value
// itself: then it is a launch of the plain function. Some values that are named
// restrict the choice to the configurations that agree.
//
// One run of a trial: the configuration's pre_hook, then the decorator's, which
// without one clears the tensors of reset_to_zero; the kernel; post_hook, which
// without one puts back those of restore_value. After the last trial every
// tensor that the kernel or a hook writes is put back, so that a trial leaves
// no trace, and the first two steps are done once more, without restore_value's
// copies. The pre_hook of the chosen configuration runs before every launch.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_AUTOTUNE_CONFIGSELECTION_H
#define NEREID_RUNTIME_AUTOTUNE_CONFIGSELECTION_H

#include "nereid/Runtime/Argument.h"
#include "nereid/Runtime/Grid.h"
#include "nereid/Runtime/autotune/ConfigChooser.h"
#include "nereid/Runtime/launch/WordTable.h"

#include <array>
#include <atomic>
#include <deque>
#include <functional>

namespace nereid {

struct KernelState;
struct LoadedImage;
struct LaunchBinding;

/// Arguments that a hook has changed for one launch.
struct HookedArguments {
  std::deque<TensorDescriptor> descriptors;
  std::deque<Argument> arguments;
};

/// A launch whose configuration is chosen, as the caller does it.
struct LaunchSteps {
  /// The code, without running it.
  std::function<Expected<const LoadedImage *>(LaunchBinding &)> compile;
  std::function<Status(LaunchBinding &)> run;
  /// The sizes that the launch has with the binding's values.
  std::function<Expected<std::array<int32_t, 3>>(LaunchBinding &)> grid;
};

class ConfigSelection {
public:
  explicit ConfigSelection(const KernelDescription &description);
  /// Called for every compiler: programs that have none do not carry the code
  /// of trials and hooks.
  static void useTrials();

  bool empty() const { return configs.empty(); }
  /// Adds the chosen configuration's values and options to the binding, and
  /// runs its hook. `hooked` must live as long as the binding is used.
  Status apply(LaunchBinding &binding, HookedArguments &hooked,
               const LaunchSteps &steps);
  /// The first usable configuration, without running anything.
  void applyFirst(LaunchBinding &binding) const;

private:
  /// Its values are views of its source: it stays where it is.
  struct Config {
    Config(const KernelDescription &kernel, ConfigDescription source,
           std::optional<size_t> index);
    Config(const Config &) = delete;
    ConfigDescription source;
    std::optional<size_t> index;                     ///< in the decorator
    std::vector<std::pair<size_t, Argument>> values; ///< by parameter
    bool hasHook() const { return index && source.hasHook; }
  };
  class Trials;

  void apply(LaunchBinding &binding, const Config &config) const;
  bool namesEverything(const LaunchBinding &binding) const;
  std::vector<size_t> candidates(const LaunchBinding &binding) const;
  Expected<std::vector<size_t>> pruned(const LaunchBinding &binding) const;
  WordKey keyOf(const LaunchBinding &binding) const;
  TuningKey tuningKey(const LaunchBinding &binding) const;
  std::unique_ptr<Config> copyOf(const ConfigDescription &config) const;
  /// `isKnown`: from an earlier process, so that nothing ran.
  Expected<std::unique_ptr<Config>>
  choose(const LaunchBinding &binding, const LaunchSteps &steps, bool &isKnown);
  Expected<std::unique_ptr<Config>> chooseByTrials(const LaunchBinding &binding,
                                                   const LaunchSteps &steps,
                                                   TuningKey key,
                                                   bool &isKnown);
  Status runHooks(const Config &config, LaunchBinding &binding,
                  HookedArguments &hooked, bool isFirst);
  Status prepareLaunch(const Config &config, LaunchBinding &binding,
                       HookedArguments &hooked, bool isFirst);

  struct TrialCode {
    decltype(&ConfigSelection::chooseByTrials) choose;
    decltype(&ConfigSelection::runHooks) runHooks;
  };
  static std::atomic<const TrialCode *> trialCode;

  /// A request with the binding's values and device.
  HookRequest hookRequest(const LaunchBinding &binding) const;
  using Actions = std::vector<HookAction>;
  /// What a hook does with these arguments: computed once for equal ones.
  Expected<const Actions *> actionsOf(HookRequest::Hook hook,
                                      const Config &config, bool resetOnly,
                                      const LaunchBinding &binding);
  /// pre_hook of the decorator, or reset_to_zero.
  Expected<Actions> actionsBefore(const Config &config, bool resetOnly,
                                  const LaunchBinding &binding);

  const KernelDescription &description;
  std::deque<Config> configs;
  std::vector<size_t> tuned; ///< parameters that some configuration sets
  std::vector<size_t> keyParameters;
  WordTable<Config> chosen;
  WordTable<Actions> hookActions;
  std::mutex measuring;
};

} // namespace nereid

#endif // NEREID_RUNTIME_AUTOTUNE_CONFIGSELECTION_H
