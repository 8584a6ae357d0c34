//===- Bars.h - Numbers of a few things beside each other ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   softmax     unfused chain  ########################################  537
//               fused kernel   ##########                                134
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_BARS_H
#define NEREID_BENCH_BARS_H

#include <span>
#include <string>
#include <vector>

namespace nereid::bench {

struct Bar {
  std::string name;
  double value = 0; ///< from 0; nothing is drawn for what is not finite
};

/// Bars that are compared with each other, under a name: "softmax".
struct BarGroup {
  std::string name;
  std::vector<Bar> bars;
};

struct BarChart {
  std::string title, unit;
  std::vector<BarGroup> groups;
};

/// For a terminal; the longest bar has `width` characters.
std::string barsText(const BarChart &chart, size_t width = 40);
/// One picture: the charts below each other. A bar has the colour of its place
/// in its group.
std::string barsSvg(const std::string &title, std::span<const BarChart> charts);

} // namespace nereid::bench

#endif // NEREID_BENCH_BARS_H
