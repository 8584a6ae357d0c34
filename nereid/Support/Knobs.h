//===- Knobs.h - Settings from the environment ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table is Knobs.def. The environment is read once, on first use; what is
// wrong with it (an unknown NEREID_ variable, a value that does not parse) is
// reported on stderr then, with a "did you mean", and otherwise ignored. That
// is what the process has; a context may have settings of its own
// (Runtime/Context.h), and threads that work for it see these.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_KNOBS_H
#define NEREID_SUPPORT_KNOBS_H

#include "nereid/ABI/LanguageVersion.h"

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
struct Choice {
  std::string word;
};
} // namespace knob

struct Knobs {
#define NEREID_KNOB(field, kind, variable, values, text) knob::kind field = {};
#include "nereid/Support/Knobs.def"

  bool checks(std::string_view what) const {
    return std::find(check.begin(), check.end(), what) != check.end();
  }
  /// The version of sources that name none.
  LanguageVersion languageVersion() const;
  bool logs(std::string_view topic) const {
    return std::find(log.begin(), log.end(), topic) != log.end();
  }
};

/// The process's settings.
const Knobs &processKnobs();

namespace detail {
inline constinit std::atomic<uint32_t> exchangesOfKnobs = 0;
/// Null: the process's.
inline constinit thread_local const Knobs *knobsOfThread = nullptr;
} // namespace detail

/// Those that this thread works under: the process's, but in a KnobsScope.
inline const Knobs &knobs() {
  const Knobs *own = detail::knobsOfThread;
  return own ? *own : processKnobs();
}

/// This thread works under other settings, as long as it lives; null: under the
/// process's. Scopes nest.
class KnobsScope {
public:
  explicit KnobsScope(const Knobs *settings)
      : outer(std::exchange(detail::knobsOfThread, settings)) {}
  ~KnobsScope() { detail::knobsOfThread = outer; }
  KnobsScope(const KnobsScope &) = delete;
  KnobsScope &operator=(const KnobsScope &) = delete;

private:
  const Knobs *outer;
};

/// Replaces the process's and returns the old ones: for command-line flags and
/// tests. Not while kernels run.
Knobs exchangeKnobs(Knobs settings);

/// What was derived from the settings holds as long as this stays the same.
inline uint32_t knobsVersion() {
  return detail::exchangesOfKnobs.load(std::memory_order_relaxed);
}

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The parser of processKnobs(). Appends one line a problem to
/// `complaints`.
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
