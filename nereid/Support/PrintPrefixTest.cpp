//===- PrintPrefixTest.cpp - The text in front of a printed value ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/PrintPrefix.h"

#include <gtest/gtest.h>

using namespace nereid;

TEST(PrintPrefix, OneSpaceAndAColonBeforeAValue) {
  for (const char *prefix : {"x", " x:", "x: ", "  x :: "}) {
    EXPECT_EQ(printPrefix(prefix, true), " x: ") << prefix;
  }
  EXPECT_EQ(printPrefix("a: b", true), " a: b: ");
}

TEST(PrintPrefix, WithoutAValueColonsStay) {
  EXPECT_EQ(printPrefix(" here: ", false), " here:");
}

TEST(PrintPrefix, NothingIsAColonOrASpace) {
  for (const char *prefix : {"", "  ", " : "}) {
    EXPECT_EQ(printPrefix(prefix, true), ": ") << prefix;
  }
  EXPECT_EQ(printPrefix("", false), " ");
  EXPECT_EQ(printPrefix(":", false), " :");
}
