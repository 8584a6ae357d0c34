//===- ProgressBar.h - How far a long work is -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line on the standard error that is written again a few times a second,
// and removed in the end. Where that is no terminal nothing is written.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_PROGRESSBAR_H
#define NEREID_APPS_GPT2_DATA_PROGRESSBAR_H

#include <chrono>
#include <cstdint>
#include <string>

namespace nereid::gpt2 {

class ProgressBar {
public:
  /// `unit`: what is counted; "MB" divides by a million.
  ProgressBar(std::string label, uint64_t total, std::string unit);
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;
  void advanceTo(uint64_t done);

private:
  std::string label, unit;
  uint64_t total;
  bool isShown, isDrawn = false;
  std::chrono::steady_clock::time_point start, last;
};

/// "encode [#####.....] 50 % 12 of 24 MB, 3 MB/s, 4 s left"
std::string progressLine(const std::string &label, uint64_t done,
                         uint64_t total, const std::string &unit,
                         double seconds);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_PROGRESSBAR_H
