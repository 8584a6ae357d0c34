//===- ProgressBar.cpp - How far a long work is ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/ProgressBar.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace nereid::gpt2 {

static std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), value < 10 ? "%.1f" : "%.0f", value);
  return text;
}

std::string progressLine(const std::string &label, uint64_t done,
                         uint64_t total, const std::string &unit,
                         double seconds) {
  constexpr size_t width = 30;
  double share = total ? std::min(1.0, static_cast<double>(done) /
                                           static_cast<double>(total))
                       : 1.0;
  double scale = unit == "MB" ? 1e-6 : 1;
  double count = static_cast<double>(done) * scale;
  size_t filled = static_cast<size_t>(share * width);
  std::string line = label + " [" + std::string(filled, '#') +
                     std::string(width - filled, '.') + "] " +
                     std::to_string(static_cast<int>(share * 100)) + " % " +
                     shortNumber(count) + " of " +
                     shortNumber(static_cast<double>(total) * scale) + " " +
                     unit;
  if (seconds > 0.5 && done > 0) {
    line += ", " + shortNumber(count / seconds) + " " + unit + "/s, " +
            shortNumber(seconds * (1 - share) / share) + " s left";
  }
  return line;
}

ProgressBar::ProgressBar(std::string label, uint64_t total, std::string unit)
    : label(std::move(label)), unit(std::move(unit)), total(total),
      isShown(::isatty(STDERR_FILENO)), start(std::chrono::steady_clock::now()),
      last(start) {}

ProgressBar::~ProgressBar() {
  if (isDrawn) {
    std::fputs("\r\x1b[K", stderr);
  }
}

void ProgressBar::advanceTo(uint64_t done) {
  auto now = std::chrono::steady_clock::now();
  if (!isShown || (isDrawn && now - last < std::chrono::milliseconds(200))) {
    return;
  }
  isDrawn = true;
  last = now;
  double seconds = std::chrono::duration<double>(now - start).count();
  std::string line =
      "\r" + progressLine(label, done, total, unit, seconds) + "\x1b[K";
  std::fputs(line.c_str(), stderr);
}

} // namespace nereid::gpt2
