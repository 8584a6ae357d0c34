//===- ReportTest.cpp - Times of several sizes and providers --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::bench;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

static Row row(const std::string &x, const std::string &provider, double ms) {
  Row row{{x, "fp32"}, {provider, {9, ms, ms / 2, ms, 1.5 * ms}}};
  row.work = Work{2e9 * ms / 1e3, 5e9, {}, false};
  return row;
}

static Report sample() {
  Report report;
  report.title = "a <kernel>";
  report.device = "cpu";
  report.variables = {"N", "dtype"};
  report.rows = {row("256", "ours", 2), row("256", "theirs", 4),
                 row("8192", "ours", 20), row("8192", "theirs", 30)};
  report.rows[3].times.ms = {};
  report.rows[3].times.failure =
      Failure{ErrorCode::KernelFault, "no, \"it\"\nfails", {}};
  report.baseline = "theirs";
  report.roofline = Roofline{"cpu", "", "", 4, 8, {{"fp32", 10}}};
  return report;
}

static const Column &column(const std::vector<Column> &columns,
                            const std::string &name) {
  return *std::find_if(columns.begin(), columns.end(),
                       [&](const Column &c) { return c.name == name; });
}

TEST(Report, ColumnsAreRatesOfTheWork) {
  auto columns = columnsOf(sample());
  EXPECT_EQ(column(columns, "bandwidth").values[0], 2);
  EXPECT_EQ(column(columns, "rate").values[0], 2.5);
  EXPECT_EQ(column(columns, "roofline").values[0], 50) << "2 of 4 GB/s";
  EXPECT_EQ(column(columns, "speed-up").values[0], 2);
  EXPECT_EQ(column(columns, "speed-up").values[1], std::nullopt);
  EXPECT_EQ(column(columns, "spread").values[2], 50);
  EXPECT_EQ(column(columns, "time").values[3], std::nullopt);
}

TEST(Report, TheLongestOfItsBoundsIsTheRoofline) {
  Roofline roofline{"", "", "", 4, 8, {{"fp32", 10}, {"bf16", 100}}};
  EXPECT_DOUBLE_EQ(roofline.leastMs({4e6, 0, {}}), 1);
  EXPECT_DOUBLE_EQ(roofline.leastMs({4e6, 5e10, {}}), 5);
  EXPECT_DOUBLE_EQ(roofline.leastMs({4e6, 0, {{"bf16", 5e11}}}), 5);
  EXPECT_DOUBLE_EQ(roofline.leastMs({0, 0, {{"f64", 5e10}}}), 5)
      << "without a rate of its own";
}

TEST(Report, TheTableTellsFailures) {
  EXPECT_THAT(tableText(sample()),
              AllOf(HasSubstr("time [ms]"),
                    HasSubstr("theirs N=8192 dtype=fp32: failed: no, \"it\"")));
}

TEST(Report, CsvQuotesWhatItMust) {
  std::string csv = csvText(sample());
  EXPECT_THAT(csv, HasSubstr("N,dtype,provider,time [ms],"));
  EXPECT_THAT(csv, HasSubstr("\r\n256,fp32,ours,2,"));
  EXPECT_THAT(csv, HasSubstr(",0,\"no, \"\"it\"\"\nfails\"\r\n"));
}

TEST(Report, JsonHasEveryNumber) {
  auto json = nlohmann::json::parse(jsonText(sample()));
  EXPECT_EQ(json["rows"][2]["time [ms]"], 20);
  EXPECT_EQ(json["rows"][2]["point"]["N"], "8192");
  EXPECT_EQ(json["roofline"]["copy [GB/s]"], 4);
  EXPECT_TRUE(json["rows"][3]["time [ms]"].is_null());
}

TEST(Report, ALineIsAProviderWithTheOtherVariables) {
  auto plots = plotsOf(sample());
  ASSERT_EQ(plots.size(), 3u);
  EXPECT_EQ(plots[0].lines[0].name, "ours, dtype=fp32");
  EXPECT_TRUE(plots[0].isLogX);
  EXPECT_EQ(plots[1].yName, "GB/s");
  EXPECT_EQ(plots[0].lines[0].points[1].x, 8192);
  EXPECT_EQ(plots[0].lines[1].points.size(), 1u) << "what failed is no point";
}

TEST(Report, TextsAreCategories) {
  Report report = sample();
  report.variables = {"dtype"};
  for (Row &row : report.rows) {
    row.point = {row.times.ms.median < 10 ? "fp32" : "bf16"};
  }
  auto plots = plotsOf(report);
  EXPECT_THAT(plots[0].categories, ElementsAre("fp32", "bf16"));
  EXPECT_FALSE(plots[0].isLogX);
  EXPECT_EQ(plots[0].lines[0].points[1].x, 1);
}

TEST(Report, PicturesEscapeTexts) {
  for (const std::string &text : {svgText(sample()), htmlText(sample())}) {
    EXPECT_THAT(text, HasSubstr("a &lt;kernel&gt;"));
  }
  Report report = sample();
  report.title = "</script><b>";
  EXPECT_THAT(htmlText(report), Not(HasSubstr("</script><b>")));
}

TEST(Report, OnePointAndNoVariable) {
  Report report = sample();
  report.variables.clear();
  report.rows.resize(1);
  report.rows[0].point.clear();
  EXPECT_THAT(tableText(report), HasSubstr("ours"));
  EXPECT_THAT(svgText(report), Not(AllOf(HasSubstr("nan"), HasSubstr("inf"))));
}

TEST(Roofline, IsReadAsItWasWritten) {
  Roofline before{"GPU \"x\"", "CUDA 13.0 580",
                  "build",     4000.5,
                  9000,        {{"fp32", 60}, {"bf16", 900}}};
  Roofline after = *parseRoofline(textOf(before));
  EXPECT_EQ(textOf(after), textOf(before));
  EXPECT_EQ(after.operations["bf16"], 900);
  before.derived = {"fp8", "tf32"};
  before.load = 7.5;
  after = *parseRoofline(textOf(before));
  EXPECT_THAT(after.derived, ElementsAre("fp8", "tf32"));
  EXPECT_EQ(after.load, 7.5);
  for (const char *text : {"", "{", "[]", "{\"device\": 3}"}) {
    EXPECT_FALSE(parseRoofline(text).ok()) << text;
  }
}

static size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

/// A loss that falls from 4 to 2 in so many steps.
static std::string curveOf(int steps) {
  Plot plot{"loss", "step", "nats", false, false, {}, {{"loss", {}}}, true};
  for (int i = 0; i < steps; ++i) {
    double y = 2 + 2.0 * (steps - i) / steps;
    plot.lines[0].points.push_back({double(i + 1), y, y, y});
  }
  const Plot plots[] = {plot};
  return svgOf("curve", plots);
}

TEST(Plot, ManyPointsAreALineWithoutMarks) {
  EXPECT_EQ(countOf(curveOf(50), "<circle"), 50u);
  EXPECT_EQ(countOf(curveOf(51), "<circle"), 0u);
}

// Colours are eight.
TEST(Plot, LinesOfOneColourDifferInTheirDashes) {
  Plot plots[] = {{"time", "N", "ms", false, false, {}, {}}};
  for (int line = 0; line < 17; ++line) {
    plots[0].lines.push_back(
        {std::to_string(line), {{1, 1, 1, 1}, {2, 1, 1, 1}}});
    std::string svg = svgOf("lines", plots);
    EXPECT_EQ(countOf(svg, "stroke-dasharray=\"8 4\"") > 0, line >= 8);
    EXPECT_EQ(countOf(svg, "stroke-dasharray=\"2 4\"") > 0, line >= 16);
  }
}

TEST(Plot, ItsSizeHasABound) {
  EXPECT_LT(curveOf(100000).size(), 30000u);
  // The highest point of a part is drawn, however narrow it is.
  Plot plots[] = {{"loss", "step", "nats", false, false, {}, {{"loss", {}}}}};
  for (int i = 0; i < 5000; ++i) {
    double y = i == 2345 ? 1000 : 1;
    plots[0].lines[0].points.push_back({double(i), y, y, y});
  }
  std::string svg = svgOf("spike", plots);
  plots[0].lines[0].points[2345].y = 1;
  EXPECT_NE(svg, svgOf("spike", plots));
}

TEST(Plot, TicksOfManyPointsAreRound) {
  std::string svg = curveOf(2000);
  for (const char *tick : {">500<", ">1000<", ">1500<", ">2000<"}) {
    EXPECT_THAT(svg, HasSubstr(tick));
  }
  EXPECT_THAT(svg, Not(HasSubstr(">201<")));
}

TEST(Plot, AnAxisMayEndNearTheData) {
  EXPECT_THAT(curveOf(2000), Not(HasSubstr(">0<")));
  EXPECT_THAT(curveOf(2000), HasSubstr(">2<"));
}

TEST(Report, APointThatFailsIsAGapInItsLine) {
  Report report;
  report.title = "gaps";
  report.device = "cpu";
  report.variables = {"N"};
  for (const char *n : {"256", "512", "1024"}) {
    for (const char *provider : {"ours", "theirs"}) {
      report.rows.push_back({{n}, {provider, {9, 1, 1, 1, 1}}});
    }
  }
  report.rows[2].times.ms = {}; // "ours" at 512
  report.rows[2].times.failure = Failure{ErrorCode::KernelFault, "no", {}};
  std::string svg = svgText(report);
  auto pathsOf = [&](const std::string &color) {
    size_t at =
        svg.find("class=\"line " + color + "\" d=\"M", svg.find("Time"));
    std::string path = svg.substr(svg.find("d=\"", at) + 3);
    return path.substr(0, path.find('"'));
  };
  std::string ours = pathsOf("s0"), theirs = pathsOf("s1");
  EXPECT_EQ(std::count(ours.begin(), ours.end(), 'M'), 2);
  EXPECT_EQ(std::count(theirs.begin(), theirs.end(), 'M'), 1);
}

TEST(Report, WhatIsNotCertainHasTwoDigitsAndAMark) {
  Report report = sample();
  report.rows[0].maxDifference = 3;
  report.rows[0].differs = true;
  report.rows[0].configuration = "BLOCK=64";
  report.rows[0].work->bytes = 20e6;
  report.date = "today";
  report.program = "nereid";
  report.command = "nereid bench";
  std::string text = tableText(report);
  EXPECT_THAT(text, AllOf(HasSubstr("~2.0"), HasSubstr("3.0e+00!"),
                          HasSubstr("250.0!"), HasSubstr("ours: BLOCK=64"),
                          HasSubstr("nereid, today: nereid bench")));
}

TEST(Report, RatesThatAreAllSmallHaveASmallerUnit) {
  Report report = sample();
  EXPECT_THAT(tableText(report), HasSubstr("rate [TFLOP/s]"));
  for (Row &row : report.rows) {
    row.work->floatOperations /= 1e3;
  }
  std::string text = tableText(report);
  EXPECT_THAT(text, AllOf(HasSubstr("rate [GFLOP/s]"), HasSubstr(" 2.5"),
                          Not(HasSubstr("TFLOP/s"))));
}
