//===- ScheduleTest.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Schedule.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::gpt2;

static Options scheduled(const char *name) {
  Options o;
  o.lrSchedule = name;
  o.learningRate = 1;
  o.minLr = 0.5;
  o.warmupIters = 4;
  o.lrDecayIters = 24;
  return o;
}

TEST(Schedule, beginsWithALine) {
  for (const char *name : {"cosine", "linear", "constant", "wsd"}) {
    Options o = scheduled(name);
    EXPECT_EQ(learningRateAt(o, 0), 0.2);
    EXPECT_EQ(learningRateAt(o, 3), 0.8);
    EXPECT_EQ(learningRateAt(o, 4), 1);
  }
}

TEST(Schedule, endsAtTheLeast) {
  for (const char *name : {"cosine", "linear", "wsd"}) {
    Options o = scheduled(name);
    EXPECT_DOUBLE_EQ(learningRateAt(o, 24), 0.5);
    EXPECT_EQ(learningRateAt(o, 25), 0.5);
  }
  EXPECT_EQ(learningRateAt(scheduled("constant"), 1000), 1);
}

TEST(Schedule, hasItsShapeBetween) {
  EXPECT_DOUBLE_EQ(learningRateAt(scheduled("cosine"), 9),
                   0.5 + 0.25 * (1 + std::numbers::sqrt2 / 2));
  EXPECT_DOUBLE_EQ(learningRateAt(scheduled("linear"), 9), 0.875);
  Options o = scheduled("wsd");
  EXPECT_EQ(learningRateAt(o, 22), 1) << "a tenth of 24 is 2";
  EXPECT_EQ(learningRateAt(o, 23), 0.75);
  o.decayIters = 10;
  EXPECT_EQ(learningRateAt(o, 14), 1);
  EXPECT_DOUBLE_EQ(learningRateAt(o, 19), 0.75);
  o.decayIters = 1000; // the warm-up comes first
  EXPECT_DOUBLE_EQ(learningRateAt(o, 14), 0.75);
  o.decayLr = false;
  EXPECT_EQ(learningRateAt(o, 0), 1);
}

TEST(Schedule, asksForSignalsEachSecondOrEachStep) {
  EXPECT_EQ(stepsBetweenQuestions(1, 0), 10);
  EXPECT_EQ(stepsBetweenQuestions(1, 100), 10);
  EXPECT_EQ(stepsBetweenQuestions(1, 400), 2);
  EXPECT_EQ(stepsBetweenQuestions(1, 30000), 1);
  EXPECT_EQ(stepsBetweenQuestions(4, 1), 2);
  EXPECT_EQ(stepsBetweenQuestions(40, 1), 1);
}
