//===- Agreement.h - Which configurations compute the same -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A configuration changes the order of sums, so results differ by rounding. One
// whose results differ by more has a race, or a block size that the kernel does
// not allow. Nothing says what a kernel is to compute, but two things tell:
//
//   what is touched   A block that is too small leaves elements unwritten or
//                     unread that others touch: it is a suspect.
//   how many agree    Configurations that have a cause in common are wrong
//                     together, so that ones that differ in warps and stages
//                     alone count once, and several that all have one value of
//                     a parameter, which no other has, are not several.
//
// Where neither decides, nothing is chosen (docs/Tune.md).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_AGREEMENT_H
#define NEREID_TUNE_AGREEMENT_H

#include "nereid/Runtime/autotune/ConfigChooser.h"

#include <map>
#include <optional>
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

/// As `difference`, with so many times the tolerance.
std::string difference(const Results &a, const Results &b, double allowance);

/// Elements of the launch's tensors that one configuration touches.
struct Coverage {
  using Elements = std::map<std::string, std::vector<bool>>;
  Elements written, read;
};

class Agreement {
public:
  void add(size_t trial, const ConfigDescription &config, Results results);
  bool has(size_t trial) const { return of(trial); }
  /// What was found wrong in another way has no say.
  void remove(size_t trial);
  /// Where there are several groups: one trial of each whose coverage is not
  /// known.
  std::vector<size_t> unexplored() const;
  void setCoverage(size_t trial, Coverage coverage);

  /// Several results, and nothing says which is right.
  bool isUndecided() const { return groups.size() > 1 && !winner(); }
  /// That of the right group; all, where nothing says which is right.
  bool agrees(size_t trial) const;
  /// Empty where all agree; else what is wrong with one that does not, or that
  /// it is not known which is right.
  std::string reason(size_t trial) const;
  /// What a trial computed, as one of its group did.
  const Results &results(size_t trial) const;
  /// Trials of the group to launch where nothing decides: that touches the
  /// most, else that has the most kinds, else that of the first trial.
  const std::set<size_t> &likeliest() const;
  /// "BLOCK=64 ... and BLOCK=128 ... disagree: ...".
  std::string doubt() const;

private:
  struct Group {
    Results results;
    std::map<std::string, ConfigDescription> kinds; ///< without options
    std::map<size_t, std::string> names;            ///< of trials
    std::set<size_t> trials;
    std::optional<Coverage> coverage;
  };
  enum class Order { Same, More, Less, Other };
  static Order compare(const Group &a, const Group &b);
  static bool isSeveral(const Group &a, const Group &b, bool asMany);
  bool beats(const Group &a, const Group &b) const;
  const Group *of(size_t trial) const;
  /// Null: nothing decides.
  const Group *winner() const;
  std::vector<Group> groups;
};

} // namespace nereid::tune

#endif // NEREID_TUNE_AGREEMENT_H
