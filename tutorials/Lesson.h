//===- Lesson.h - Options, timing and errors of the lessons ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every lesson needs and none is about.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUTORIALS_LESSON_H
#define NEREID_TUTORIALS_LESSON_H

#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/Tensor.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace lesson {

/// Ends the program when the command line has anything but these options, each
/// with a value.
inline void checkOptions(int argc, char **argv,
                         std::initializer_list<std::string_view> names) {
  for (int i = 1; i < argc; i += 2) {
    std::string_view given = argv[i];
    bool isKnown = std::find(names.begin(), names.end(), given) != names.end();
    if (isKnown && i + 1 < argc) {
      continue;
    }
    std::fprintf(stderr,
                 isKnown ? "error: expected a value after %s\n"
                         : "error: no option '%s'\n",
                 argv[i]);
    std::fprintf(stderr, "options, each with a value:");
    for (std::string_view name : names) {
      std::fprintf(stderr, " %.*s", static_cast<int>(name.size()), name.data());
    }
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
}

/// The value after `--name` on the command line, or `fallback`.
inline std::string option(int argc, char **argv, std::string_view name,
                          std::string fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) {
      return argv[i + 1];
    }
  }
  return fallback;
}

inline int64_t option(int argc, char **argv, std::string_view name,
                      int64_t fallback) {
  std::string text = option(argc, argv, name, std::to_string(fallback));
  char *end = nullptr;
  errno = 0;
  int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < 0) {
    std::fprintf(stderr, "error: %.*s: expected an integer from 0, got '%s'\n",
                 static_cast<int>(name.size()), name.data(), text.c_str());
    std::exit(2);
  }
  return value;
}

/// Milliseconds of `body` on `device`: the median of `repeats` runs, after two
/// runs that are not counted. The first of those pays for compiling and for the
/// first touch of the outputs' pages; neither is what a steady state costs. A
/// GPU's work goes on after the call that started it: events in its stream tell
/// when it began and ended.
template <typename Body>
double medianMilliseconds(nereid::Device device, int64_t repeats, Body body) {
  body();
  body();
  std::vector<double> times;
  for (int64_t i = 0; i < std::max<int64_t>(repeats, 1); ++i) {
    if (!device.isHost()) {
      nereid::Event begin(device), end(device);
      begin.record();
      body();
      end.record();
      times.push_back(end.millisecondsSince(begin));
      continue;
    }
    auto start = std::chrono::steady_clock::now();
    body();
    std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    times.push_back(elapsed.count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

/// The largest |a - b|; infinity when a NaN is among them.
inline double maxDifference(const nereid::Tensor &actual,
                            const std::vector<double> &expected) {
  std::vector<double> values = actual.toFloat64();
  double largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double difference = std::fabs(values[i] - expected[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

/// Ends a lesson: 0 when `difference` is at most `bound`, else 1, saying so.
inline int verdict(double difference, double bound) {
  if (difference <= bound) {
    return 0;
  }
  std::printf("\nThe difference %.3g is above the bound %.3g.\n", difference,
              bound);
  return 1;
}

} // namespace lesson

#endif // NEREID_TUTORIALS_LESSON_H
