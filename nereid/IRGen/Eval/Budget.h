//===- Budget.h - What static evaluation may cost --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `t = (t, t)`, thirty times, is thirty small tuples to make and a billion
// elements to look at. So everything that evaluation does counts against one
// budget: nodes of the program, elements that a comparison, a text or a
// conversion looks at, and bytes that strings, tuples and lists take. Once it
// is exceeded, whatever still looks at values gives up at once, and the next
// check tells the line that was being evaluated (Diagnostics::error).
//
// A budget belongs to an Evaluator; the one made last on a thread is charged.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_BUDGET_H
#define NEREID_IRGEN_EVAL_BUDGET_H

#include <cstdint>
#include <string>

namespace nereid::irgen {

class Budget {
public:
  /// Nodes of the program: far above what the largest kernel needs.
  static constexpr uint64_t maxSteps = 5'000'000;
  /// An element that is looked at counts as a part of a step.
  static constexpr uint64_t looksPerStep = 4;
  static constexpr uint64_t maxBytes = 256 << 20;
  /// Tuples in tuples, as far as anything looks into them.
  static constexpr unsigned maxLevels = 500;

  Budget();
  ~Budget();
  Budget(const Budget &) = delete;
  Budget &operator=(const Budget &) = delete;

  /// Of the current budget, if there is one: false when it is exceeded.
  static bool step();
  static bool look();
  static bool make(uint64_t bytes);
  struct Problem {
    std::string message, hint;
  };
  /// What is exceeded; null where nothing is.
  static const Problem *exceeded();

private:
  friend class Look;
  bool exceed(const char *message, const char *hint);

  Budget *outer;
  uint64_t looks = 0, bytes = 0;
  unsigned levels = 0;
  bool isExceeded = false;
  Problem problem;
};

/// While one lives, a value is looked at. False: do not look into it.
class Look {
public:
  Look();
  ~Look();
  Look(const Look &) = delete;
  Look &operator=(const Look &) = delete;
  explicit operator bool() const { return may; }

private:
  Budget *budget;
  bool may;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_BUDGET_H
