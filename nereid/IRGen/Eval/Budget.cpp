//===- Budget.cpp - What static evaluation may cost -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Budget.h"

namespace nereid::irgen {

static thread_local Budget *current = nullptr;

Budget::Budget() : outer(current) { current = this; }
Budget::~Budget() { current = outer; }

bool Budget::exceed(const char *message, const char *hint) {
  if (!isExceeded) {
    problem = {message, hint};
  }
  isExceeded = true;
  return false;
}

static constexpr const char *tooManySteps =
    "compiling takes more than 5000000 steps";
static constexpr const char *stepsHint =
    "a loop that runs while compiling (static_range, host code) is too long, "
    "or never ends, or a tuple, a list or a text has too many parts";

bool Budget::step() {
  if (current && (current->looks += looksPerStep) > maxSteps * looksPerStep) {
    current->exceed(tooManySteps, stepsHint);
  }
  return !current || !current->isExceeded;
}

bool Budget::look() {
  if (current && ++current->looks > maxSteps * looksPerStep) {
    current->exceed(tooManySteps, stepsHint);
  }
  return !current || !current->isExceeded;
}

bool Budget::make(uint64_t bytes) {
  if (current && (current->bytes += bytes) > maxBytes) {
    current->exceed(
        "compiling makes more than 256 MB of texts, tuples and lists",
        "what is computed while compiling grows too large; compute it on the "
        "device, or before");
  }
  return !current || !current->isExceeded;
}

const Budget::Problem *Budget::exceeded() {
  return current && current->isExceeded ? &current->problem : nullptr;
}

Look::Look() : budget(current), may(Budget::look()) {
  if (budget && ++budget->levels > Budget::maxLevels) {
    may = budget->exceed("a value is nested more than 500 levels deep",
                         "tuples, lists or dicts hold one another; keep them "
                         "flat");
  }
}

Look::~Look() {
  if (budget) {
    --budget->levels;
  }
}

} // namespace nereid::irgen
