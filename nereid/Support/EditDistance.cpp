//===- EditDistance.cpp - Did you mean ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/EditDistance.h"

#include <algorithm>
#include <vector>

namespace nereid {

static char lower(char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

size_t editDistance(std::string_view a, std::string_view b) {
  // Row i holds the distances from the first i characters of a to every
  // prefix of b; swaps look back two rows.
  std::vector<size_t> beforeLast(b.size() + 1), last(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    beforeLast.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2])) {
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<std::string>
closestName(std::string_view name, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  size_t bestDistance = 0;
  for (const std::string &candidate : candidates) {
    size_t longer = std::max(name.size(), candidate.size());
    size_t limit = std::max<size_t>(1, longer / 3);
    // The length difference is a lower bound, and cheap.
    size_t difference = longer - std::min(name.size(), candidate.size());
    if (difference > limit) {
      continue;
    }
    size_t distance = editDistance(name, candidate);
    if (distance <= limit && distance < longer &&
        (!best || distance < bestDistance)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string didYouMean(std::string_view name,
                       std::span<const std::string> candidates) {
  std::optional<std::string> nearest = closestName(name, candidates);
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

} // namespace nereid
