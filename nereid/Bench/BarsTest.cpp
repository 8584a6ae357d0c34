//===- BarsTest.cpp - Numbers of a few things beside each other -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Bars.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace nereid::bench;
using testing::HasSubstr;
using testing::Not;

static BarChart sample() {
  return {"moved <all>",
          "MB",
          {{"softmax", {{"chain", 4000.4}, {"fused", 1000}}},
           {"norm", {{"chain", 1}, {"fused", NAN}, {"none", 0}}}}};
}

TEST(Bars, LengthsAreSharesOfTheLargest) {
  EXPECT_EQ(barsText(sample(), 8), "moved <all> [MB]\n"
                                   "  softmax  chain  ########  4000\n"
                                   "           fused  ##        1000\n"
                                   "  norm     chain  #         1\n"
                                   "           fused            -\n"
                                   "           none             0\n");
}

TEST(Bars, NothingToDrawIsNoMistake) {
  EXPECT_EQ(barsText({"empty", "MB", {}}), "empty [MB]\n");
  EXPECT_EQ(barsText({"zero", "MB", {{"a", {{"b", 0}}}}}, 2),
            "zero [MB]\n  a  b      0\n");
}

TEST(Bars, ThePictureHasThemAndEscapesNames) {
  BarChart charts[] = {sample(), sample()};
  std::string svg = barsSvg("a & b", charts);
  EXPECT_THAT(svg, HasSubstr("<title>a &amp; b</title>"));
  EXPECT_THAT(svg, HasSubstr("moved &lt;all&gt; [MB]"));
  size_t bars = 0;
  for (size_t at = 0; (at = svg.find("<rect", at)) != std::string::npos; ++at) {
    ++bars;
  }
  EXPECT_EQ(bars, 10u);
  EXPECT_THAT(svg, HasSubstr("width=\"370\"")) << "the longest";
  EXPECT_THAT(svg, HasSubstr("width=\"92.49")) << "a fourth of it";
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}
