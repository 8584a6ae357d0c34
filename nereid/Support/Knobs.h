//===- Knobs.h - Settings from the environment ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table is Knobs.def. The environment is read once, on first use; what is
// wrong with it (an unknown NEREID_ variable, a value that does not parse) is
// reported on stderr then, with a "did you mean", and otherwise ignored.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_KNOBS_H
#define NEREID_SUPPORT_KNOBS_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid {

/// The C++ type of each kind of Knobs.def. Empty or absent: not set.
namespace knob {
using Text = std::string;
using Flag = bool;
using Count = std::optional<int64_t>;
using Bytes = std::optional<uint64_t>;
using Words = std::vector<std::string>;
} // namespace knob

struct Knobs {
#define NEREID_KNOB(field, kind, variable, values, text) knob::kind field = {};
#include "nereid/Support/Knobs.def"

  bool checks(std::string_view what) const {
    return std::find(check.begin(), check.end(), what) != check.end();
  }
  bool logs(std::string_view topic) const {
    return std::find(log.begin(), log.end(), topic) != log.end();
  }
};

/// The process's settings.
const Knobs &knobs();

/// Replaces them and returns the old ones: for command-line flags and tests.
/// Not while kernels run.
Knobs exchangeKnobs(Knobs settings);

namespace detail {
inline std::atomic<uint32_t> exchangesOfKnobs = 0;
}
/// What was derived from the settings holds as long as this stays the same.
inline uint32_t knobsVersion() {
  return detail::exchangesOfKnobs.load(std::memory_order_relaxed);
}

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The parser behind knobs(). Appends one line a problem to `complaints`.
Knobs parseKnobs(const Environment &environment,
                 std::vector<std::string> &complaints);

/// One row of Knobs.def, for documentation.
struct KnobDescription {
  std::string_view variable, values, text;
};
const std::vector<KnobDescription> &knobTable();

/// docs/KNOBS.md.
std::string knobsMarkdown();

} // namespace nereid

#endif // NEREID_SUPPORT_KNOBS_H
