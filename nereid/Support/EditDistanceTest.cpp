//===- EditDistanceTest.cpp - Distances against the definition ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/EditDistance.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace nereid;

/// Optimal string alignment, straight from its recurrence.
static size_t slowDistance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) {
    return a.size() + b.size();
  }
  auto front = [](std::string_view s, size_t drop) {
    return s.substr(0, s.size() - drop);
  };
  size_t best = std::min(
      {slowDistance(front(a, 1), b) + 1, slowDistance(a, front(b, 1)) + 1,
       slowDistance(front(a, 1), front(b, 1)) + (a.back() != b.back())});
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] &&
      b.back() == a[a.size() - 2]) {
    best = std::min(best, slowDistance(front(a, 2), front(b, 2)) + 1);
  }
  return best;
}

TEST(EditDistance, MatchesTheRecurrence) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string a, b;
    for (std::string *s : {&a, &b}) {
      for (size_t n = random() % 7; n; --n) {
        *s += static_cast<char>('a' + random() % 3);
      }
    }
    EXPECT_EQ(editDistance(a, b), slowDistance(a, b)) << a << " " << b;
  }
}

TEST(EditDistance, SuggestsTypingErrorsOnly) {
  std::vector<std::string> names = {"BLOCK_SIZE", "n_elements", "x_ptr"};
  EXPECT_EQ(closestName("BLOCK_SZIE", names), "BLOCK_SIZE");
  EXPECT_EQ(closestName("block_size", names), "BLOCK_SIZE");
  EXPECT_EQ(closestName("n_element", names), "n_elements");
  EXPECT_EQ(closestName("stride", names), std::nullopt);
  EXPECT_EQ(closestName("", names), std::nullopt);
  EXPECT_EQ(didYouMean("xptr", names), "; did you mean 'x_ptr'?");
  EXPECT_EQ(didYouMean("zzz", names), "");
}
