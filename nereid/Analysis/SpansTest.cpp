//===- SpansTest.cpp - Sets of intervals ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/Spans.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace nereid;

namespace {

std::vector<Span> listOf(const Spans &spans) {
  llvm::ArrayRef<Span> list = spans;
  return {list.begin(), list.end()};
}

TEST(Spans, WhatTouchesBecomesOne) {
  Spans spans;
  spans.add({4, 6});
  spans.add({0, 2});
  EXPECT_EQ(listOf(spans), (std::vector<Span>{{0, 2}, {4, 6}}));
  spans.add({2, 4});
  EXPECT_EQ(listOf(spans), (std::vector<Span>{{0, 6}}));
}

TEST(Spans, ForgetsTheHighestOrTheLowest) {
  Spans spans;
  for (unsigned i : {0, 2, 4, 6}) {
    spans.add({i, i + 1});
  }
  spans.keepFirst(3);
  EXPECT_EQ(listOf(spans), (std::vector<Span>{{0, 1}, {2, 3}, {4, 5}}));
  spans.keepLast(1);
  EXPECT_EQ(listOf(spans), (std::vector<Span>{{4, 5}}));
  spans.keepLast(2);
  EXPECT_EQ(listOf(spans).size(), 1u);
}

/// Of random spans, against the set of their numbers.
TEST(Spans, AreTheirNumbers) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Spans spans[2];
    std::set<unsigned> numbers[2];
    for (int side : {0, 1}) {
      for (unsigned count = random() % 8; count--;) {
        unsigned begin = random() % 40, end = begin + 1 + random() % 5;
        Spans one;
        one.add({begin, end});
        spans[side].add(one);
        for (unsigned i = begin; i < end; ++i) {
          numbers[side].insert(i);
        }
      }
      std::set<unsigned> known;
      unsigned last = 0;
      for (Span span : listOf(spans[side])) {
        EXPECT_TRUE(known.empty() || span.begin > last) << "apart";
        for (unsigned i = span.begin; i < span.end; ++i) {
          known.insert(i);
        }
        last = span.end;
      }
      EXPECT_EQ(known, numbers[side]);
    }
    bool common = llvm::any_of(numbers[0],
                               [&](unsigned i) { return numbers[1].count(i); });
    EXPECT_EQ(spans[0].meets(spans[1]), common);
  }
}

} // namespace
