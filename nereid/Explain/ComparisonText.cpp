//===- ComparisonText.cpp - Two ways beside each other --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Comparison.h"

#include <cstdio>

namespace nereid::explain {

std::vector<ComparisonRow> compare(const Side &ours, const Side &theirs) {
  std::vector<ComparisonRow> rows;
  auto sum = [](const Side &side, auto value) {
    double total = 0;
    for (const Report &report : side.launches) {
      total += value(report);
    }
    return total;
  };
  auto add = [&](const char *what, auto text, auto value) {
    double left = sum(ours, value), right = sum(theirs, value);
    char ratio[32] = "";
    if (left > 0 && right > 0) {
      std::snprintf(ratio, sizeof(ratio), "%.2fx", right / left);
    }
    rows.push_back({what, text(left), text(right), ratio});
  };
  auto count = [](double value) { return std::to_string(int64_t(value)); };
  add("launches", count, [](const Report &) { return 1; });
  add("touched", bytesText,
      [](const Report &r) { return r.compulsoryRead + r.compulsoryWritten; });
  add("moved", bytesText,
      [](const Report &r) { return r.movedRead + r.movedWritten; });
  add("asked for", bytesText,
      [](const Report &r) { return r.requestedRead + r.requestedWritten; });
  add("instructions", count, [](const Report &r) { return r.instructions; });
  bool isMeasured = true, isPredicted = true;
  for (const Side *side : {&ours, &theirs}) {
    for (const Report &report : side->launches) {
      isMeasured &= report.measuredUs.has_value();
      isPredicted &= report.noPrediction.empty();
    }
  }
  if (isPredicted) {
    add("predicted", timeText, [](const Report &r) { return r.predictedUs; });
  }
  if (isMeasured) {
    add("measured", timeText, [](const Report &r) { return *r.measuredUs; });
  }
  return rows;
}

std::string comparisonText(const Side &ours, const Side &theirs) {
  std::string out = "A  " + ours.name + "\nB  " + theirs.name + "\n\n";
  auto add = [&](const char *what, const std::string &a, const std::string &b,
                 const char *ratio) {
    char line[160];
    std::snprintf(line, sizeof(line), "  %-14s %12s %12s %9s\n", what,
                  a.c_str(), b.c_str(), ratio);
    out += line;
  };
  add("", "A", "B", "B / A");
  for (const ComparisonRow &row : compare(ours, theirs)) {
    add(row.what.c_str(), row.ours, row.theirs, row.ratio.c_str());
  }
  for (const Side *side : {&ours, &theirs}) {
    out += "\n";
    for (const Report &report : side->launches) {
      out += std::string("  ") + (side == &ours ? "A" : "B") + "  " +
             report.kernel + ": " +
             (report.noPrediction.empty()
                  ? timeText(report.predictedUs) + ", bound by " +
                        name(report.bound) + ", "
                  : "") +
             bytesText(report.movedRead) + " read, " +
             bytesText(report.movedWritten) + " written\n";
    }
  }
  return out;
}

} // namespace nereid::explain
