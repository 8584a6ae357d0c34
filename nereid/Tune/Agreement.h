//===- Agreement.h - Which configurations compute the same -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A configuration changes the order of sums, so results differ by rounding. One
// whose results differ by more has a race, or a block size that the kernel does
// not allow. What is right is what the most *different* configurations agree
// on: ones that differ in warps and stages alone are wrong together.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_AGREEMENT_H
#define NEREID_TUNE_AGREEMENT_H

#include "nereid/Runtime/autotune/ConfigChooser.h"

#include <set>

namespace nereid::tune {

/// Elements of a tensor, evenly chosen where it has very many.
struct Sample {
  std::string name;
  DType dtype;
  std::vector<double> values;
};
using Results = std::vector<Sample>;

Results resultsOf(std::span<const NamedTensor> tensors);

/// Empty, or how they differ beyond rounding: "'out' differs in 12 of 1024
/// elements, by up to 3.5".
std::string difference(const Results &a, const Results &b);

class Agreement {
public:
  void add(size_t trial, const ConfigDescription &config, Results results);
  /// Trials that the most agree with; all, where nothing says which are right.
  bool agrees(size_t trial) const;
  /// Empty where all agree; else what is wrong with one that does not, or that
  /// it is not known which is right.
  std::string reason(size_t trial) const;
  /// What a trial computed, as one of its group did.
  const Results &results(size_t trial) const;

private:
  struct Group {
    Results results;
    std::set<std::string> kinds; ///< configurations without options
    std::set<size_t> trials;
  };
  const Group *of(size_t trial) const;
  /// Null: two are as large, or the largest has one kind among several.
  const Group *largest() const;
  std::vector<Group> groups;
};

} // namespace nereid::tune

#endif // NEREID_TUNE_AGREEMENT_H
