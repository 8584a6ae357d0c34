//===- Report.h - Times of several sizes and providers ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As triton.testing.perf_report: some variables take values, and at each point
// every provider is timed. The first variable is the x axis; a line is a
// provider with values of the other variables.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_REPORT_H
#define NEREID_BENCH_REPORT_H

#include "nereid/Bench/Measure.h"
#include "nereid/Bench/Roofline.h"

#include <span>

namespace nereid::bench {

/// One provider at one point.
struct Row {
  std::vector<std::string> point; ///< a value of each variable
  Times times;                    ///< by its name the provider
  std::optional<Work> work = std::nullopt;
  /// The largest |result - reference|.
  std::optional<double> maxDifference = std::nullopt;
  /// More than rounding explains.
  bool differs = false;
  /// That @triton.autotune chose; empty without.
  std::string configuration = {};
};

struct Report {
  std::string title, device;
  std::vector<std::string> variables;
  std::vector<Row> rows; ///< by points
  std::optional<Roofline> roofline = std::nullopt;
  std::string baseline;  ///< whose time by another's is its speed-up
  std::string reference; ///< that results are compared with
  std::vector<std::string> notes = {};
  /// How it came about: "2026-11-26 05:10 UTC", a program with its version, a
  /// command line. Empty: not known.
  std::string date = {}, program = {}, command = {};
};

/// A number of a row, or nothing.
struct Column {
  std::string name, unit; ///< "GB/s"; "" where it has none
  std::vector<std::optional<double>> values;
};

/// Time, spread, rates, share of the roofline, speed-up, difference; omits
/// columns that are empty in every row.
std::vector<Column> columnsOf(const Report &report);

/// For people: lines that end with a newline.
std::string tableText(const Report &report);
/// RFC 4180, a line a row; numbers in full.
std::string csvText(const Report &report);
std::string jsonText(const Report &report);
/// One picture: a panel for each plot, one below the other.
std::string svgText(const Report &report);
/// One file with everything in it; needs no network.
std::string htmlText(const Report &report);

//===----------------------------------------------------------------------===//
// Plots
//===----------------------------------------------------------------------===//

struct Point {
  double x = 0, y = 0;
  double low = 0, high = 0; ///< quartiles, or y
};

struct Line {
  std::string name;
  std::vector<Point> points;
};

struct Plot {
  std::string title, xName, yName; ///< with units
  bool isLogX = false, isLogY = false;
  /// Where the first variable is no number: the texts of x = 0, 1, ...
  std::vector<std::string> categories;
  std::vector<Line> lines;
  /// The y axis ends near the data, and not at 0.
  bool isNearData = false;
  /// Where points might be, in order: a line has a gap where it has none.
  std::vector<double> places = {};
};

/// Time; GB/s or TFLOP/s, by what most of the work is; share of the roofline.
std::vector<Plot> plotsOf(const Report &report);

/// Panels below each other; each with a legend where it has several lines. Of
/// a line with more than 1000 points the lowest and the highest ones of 500
/// parts are drawn; points are marked where a line has at most 50.
std::string svgOf(const std::string &title, std::span<const Plot> plots);

} // namespace nereid::bench

#endif // NEREID_BENCH_REPORT_H
