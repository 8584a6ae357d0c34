//===- ConfigSelection.h - The fastest configuration, measured once -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// @triton.autotune lists configurations and names the arguments whose values
// select among them. The first launch with a new combination of those values
// (and of the tensors' dtypes) times every configuration on the launch's own
// arguments; the fastest is kept for this process.
//
// Timing runs the kernel many times: tensors named by restore_value are put
// back after each run, those named by reset_to_zero are cleared before each.
//
// Arguments that are given although a configuration sets them restrict the
// choice to the configurations that agree; when all are given and none agrees
// they are used as they are.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CONFIGSELECTION_H
#define NEREID_RUNTIME_CONFIGSELECTION_H

#include "nereid/Runtime/Argument.h"
#include "nereid/Runtime/Grid.h"
#include "nereid/Runtime/WordTable.h"

#include <functional>

namespace nereid {

struct KernelState;
struct LaunchBinding;

class ConfigSelection {
public:
  explicit ConfigSelection(const KernelDescription &description);

  bool empty() const { return configs.empty(); }
  /// Runs a completed choice of configuration; used for timing.
  using Runner = std::function<Status(LaunchBinding &)>;
  /// Adds the chosen configuration's values and options to the binding.
  Status apply(LaunchBinding &binding, const Runner &run);
  /// The first usable configuration, without running anything.
  void applyFirst(LaunchBinding &binding) const;

private:
  struct Config {
    std::vector<std::pair<size_t, Argument>> values; ///< by parameter
    CompileOptions options;
  };
  void apply(LaunchBinding &binding, const Config &config) const;
  std::vector<size_t> candidates(const LaunchBinding &binding) const;
  WordKey keyOf(const LaunchBinding &binding) const;
  Expected<size_t> measure(const LaunchBinding &binding, const Runner &run,
                           std::span<const size_t> candidates) const;
  std::string describe(size_t config) const;

  const KernelDescription &description;
  std::vector<Config> configs;
  std::vector<size_t> tuned; ///< parameters that some configuration sets
  std::vector<size_t> keyParameters;
  WordTable<size_t> chosen;
  std::mutex measuring;
};

} // namespace nereid

#endif // NEREID_RUNTIME_CONFIGSELECTION_H
