//===- Search.h - Configurations beyond a list -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The space: each tl.constexpr parameter that the launch leaves open, in powers
// of two unless its values are said; warps, stages and registers on a GPU (the
// CPU's code knows none of them).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_SEARCH_H
#define NEREID_TUNE_SEARCH_H

#include "nereid/Runtime/autotune/ConfigChooser.h"

namespace nereid::tune {

/// Values of a parameter, in order.
using SearchValues = std::map<std::string, std::vector<StaticValue>>;

class SearchSpace {
public:
  SearchSpace(const LaunchTrials &trials, const SearchValues &given);

  /// Where a search begins, besides the list.
  std::vector<ConfigDescription> seeds() const;
  /// One step away.
  std::vector<ConfigDescription>
  neighbours(const ConfigDescription &config) const;
  /// One size of a block up to sixteen times as large: where small ones leave
  /// elements out.
  std::vector<ConfigDescription> wider(const ConfigDescription &config) const;
  /// Other limits of registers.
  std::vector<ConfigDescription>
  registerLimits(const ConfigDescription &config) const;

private:
  bool isPlausible(const ConfigDescription &config) const;
  SearchValues values; ///< empty: powers of two
  /// Options that the launch gives are not changed.
  bool variesWarps, variesStages, variesRegisters;
};

/// The parameters that a search without a list has to find values for:
/// tl.constexpr, without a default, not given, computed by no heuristic.
std::vector<std::string> openParameters(const KernelDescription &kernel,
                                        const std::vector<std::string> &given);

/// A value to begin with.
StaticValue firstGuess(const std::string &parameter, const SearchValues &given);

} // namespace nereid::tune

#endif // NEREID_TUNE_SEARCH_H
