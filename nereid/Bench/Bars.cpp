//===- Bars.cpp - Numbers of a few things beside each other ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Bars.h"

#include "nereid/Bench/Svg.h"

#include <algorithm>
#include <cmath>

namespace nereid::bench {

namespace {

/// What a chart's bars have in common.
struct Extent {
  explicit Extent(const BarChart &chart) {
    for (const BarGroup &group : chart.groups) {
      groupName = std::max(groupName, group.name.size());
      for (const Bar &bar : group.bars) {
        barName = std::max(barName, bar.name.size());
        if (std::isfinite(bar.value)) {
          largest = std::max(largest, bar.value);
        }
      }
    }
  }
  /// Of the longest bar, 0 to 1.
  double share(const Bar &bar) const {
    return largest > 0 && std::isfinite(bar.value)
               ? std::max(0.0, bar.value / largest)
               : 0;
  }

  double largest = 0;
  size_t groupName = 0, barName = 0; ///< characters
};

} // namespace

static std::string valueText(double value) {
  return !std::isfinite(value) ? "-"
         : value < 1000        ? svgNumber(value, 4)
                               : std::to_string(std::llround(value));
}

static std::string padded(const std::string &text, size_t width) {
  return text + std::string(width - text.size(), ' ');
}

std::string barsText(const BarChart &chart, size_t width) {
  Extent extent(chart);
  std::string text = chart.title + " [" + chart.unit + "]\n";
  for (const BarGroup &group : chart.groups) {
    for (const Bar &bar : group.bars) {
      bool isFirst = &bar == group.bars.data();
      double length = extent.share(bar) * double(width);
      // What is not nothing has a mark.
      auto marks = size_t(std::lround(length > 0 ? std::max(length, 1.0) : 0));
      text += "  " + padded(isFirst ? group.name : "", extent.groupName) +
              "  " + padded(bar.name, extent.barName) + "  " +
              padded(std::string(marks, '#'), width) + "  " +
              valueText(bar.value) + "\n";
    }
  }
  return text;
}

std::string barsSvg(const std::string &title,
                    std::span<const BarChart> charts) {
  constexpr int margin = 20, titleLine = 30, barLine = 18, gap = 10;
  constexpr int names = 300, values = 70;
  constexpr double room = svgWidth - names - values - margin;
  int height = 2 * titleLine;
  for (const BarChart &chart : charts) {
    height += titleLine + gap;
    for (const BarGroup &group : chart.groups) {
      height += int(group.bars.size()) * barLine + gap;
    }
  }
  std::string text = svgBegin(height, title) +
                     svgLabel(margin, 24, "start", title, " class=\"title\"");
  double y = 24 + titleLine;
  for (const BarChart &chart : charts) {
    Extent extent(chart);
    text += svgLabel(margin, y, "start", chart.title + " [" + chart.unit + "]",
                     " class=\"title\"");
    y += gap;
    for (const BarGroup &group : chart.groups) {
      text += svgLabel(margin, y + 13, "start", group.name);
      for (size_t i = 0; i < group.bars.size(); ++i, y += barLine) {
        const Bar &bar = group.bars[i];
        double length = room * extent.share(bar);
        text +=
            svgLabel(names - 8, y + 13, "end", bar.name) +
            "<rect class=\"bar s" + std::to_string(i % 8) + "\" x=\"" +
            std::to_string(names) + "\" y=\"" + svgNumber(y + 2) +
            "\" width=\"" + svgNumber(length) + "\" height=\"" +
            std::to_string(barLine - 4) + "\"/>\n" +
            svgLabel(names + length + 6, y + 13, "start", valueText(bar.value));
      }
      y += gap;
    }
    y += titleLine;
  }
  return text + "</svg>\n";
}

} // namespace nereid::bench
