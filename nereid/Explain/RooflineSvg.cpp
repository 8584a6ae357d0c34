//===- RooflineSvg.cpp - A launch under what its chip can do -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nereid::explain {

namespace {

/// Both axes are logarithmic.
struct Frame {
  double left = 60, right = 500, top = 12, bottom = 230;
  double xLow, xHigh, yLow, yHigh;
  double x(double value) const {
    return left +
           (right - left) * std::log(value / xLow) / std::log(xHigh / xLow);
  }
  double y(double value) const {
    return bottom -
           (bottom - top) * std::log(value / yLow) / std::log(yHigh / yLow);
  }
};

} // namespace

static std::string pathText(const char *stroke, double x1, double y1, double x2,
                            double y2) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"var(--%s)\" "
                "stroke-width=2 fill=none />\n",
                x1, y1, x2, y2, stroke);
  return text;
}

static std::string labelText(double x, double y, const char *anchor,
                             const std::string &text) {
  char begin[96];
  std::snprintf(begin, sizeof(begin), "<text x=%.1f y=%.1f text-anchor=%s>", x,
                y, anchor);
  return begin + text + "</text>\n";
}

std::string rooflineSvg(const Report &report) {
  double operations = report.askedProducts() + report.askedFloats();
  double bytes = report.movedRead + report.movedWritten;
  double us = report.measuredUs.value_or(report.predictedUs);
  if (operations <= 0 || bytes <= 0 || us <= 0) {
    return "";
  }
  // The chip's own rates: of matrix instructions, where the launch has some.
  double threads = 2 * report.chip.pipes().f32 * report.chip.multiprocessors *
                   report.chip.gigahertz * 1e9;
  bool hasProducts = report.productUs > 0;
  double peak = hasProducts
                    ? report.productOperations / (report.productUs * 1e-6)
                    : threads;
  double memory = report.chip.gigabytesPerSecond * 1e9;
  double at = operations / bytes, rate = operations / (us * 1e-6);
  double ridge = peak / memory;
  Frame frame;
  frame.xLow = std::min(at, ridge) / 10;
  frame.xHigh = std::max(at, ridge) * 10;
  frame.yHigh = peak * 3;
  frame.yLow = std::min(rate, memory * frame.xLow) / 3;
  std::string out = "<svg class=roofline viewBox=\"0 0 520 275\" role=img "
                    "aria-label=\"the launch under the chip's roofline\">\n";
  out += pathText("line", frame.left, frame.bottom, frame.right, frame.bottom);
  out += pathText("line", frame.left, frame.top, frame.left, frame.bottom);
  for (double power = std::pow(10, std::ceil(std::log10(frame.yLow)));
       power <= frame.yHigh; power *= 100) {
    out +=
        labelText(frame.left - 6, frame.y(power) + 4, "end", countText(power));
  }
  for (double power = std::pow(10, std::ceil(std::log10(frame.xLow)));
       power <= frame.xHigh; power *= 10) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", power);
    out += labelText(frame.x(power), frame.bottom + 17, "middle", text);
  }
  out += labelText((frame.left + frame.right) / 2, frame.bottom + 38, "middle",
                   "operations for each byte that memory moves");
  out += pathText("bar", frame.x(frame.xLow), frame.y(memory * frame.xLow),
                  frame.x(ridge), frame.y(peak));
  out += pathText("bar", frame.x(ridge), frame.y(peak), frame.right,
                  frame.y(peak));
  out += labelText(frame.right, frame.y(peak) - 6, "end",
                   countText(peak) + " operations a second " +
                       (hasProducts ? "by matrix instructions" : "by threads"));
  char dot[128];
  std::snprintf(dot, sizeof(dot),
                "<circle cx=%.1f cy=%.1f r=5 fill=\"var(--lossLine)\" />\n",
                frame.x(at), frame.y(rate));
  out += dot;
  out += labelText(frame.x(at), frame.y(rate) + 20, "middle",
                   countText(rate) +
                       (report.measuredUs ? " measured" : " predicted"));
  return out + "</svg>\n";
}

} // namespace nereid::explain
