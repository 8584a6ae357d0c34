//===- Svg.h - What all pictures of numbers share --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_SVG_H
#define NEREID_BENCH_SVG_H

#include <string>

namespace nereid::bench {

/// The width of a picture, in pixels.
inline constexpr int svgWidth = 760;

/// The element's beginning, its title, and the style of what is in it: lines
/// ("line s0" to "line s7"), bars ("bar s0" to "bar s7"), "grid", "mark",
/// "title"; in light and dark.
std::string svgBegin(int height, const std::string &title);

/// A value for people, or for a coordinate.
std::string svgNumber(double value, int digits = 6);

/// `anchor` is "start", "middle" or "end"; `more` is further attributes.
std::string svgLabel(double x, double y, const char *anchor,
                     const std::string &text, const char *more = "");

} // namespace nereid::bench

#endif // NEREID_BENCH_SVG_H
