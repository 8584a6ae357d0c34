//===- Report.h - What a run says at its start and end ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_REPORT_H
#define NEREID_APPS_GPT2_TRAIN_REPORT_H

#include "apps/gpt2/Options.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nereid::gpt2 {

/// "3 h 12 min", "4 min 10 s", "54.3 s".
std::string durationText(double seconds);

/// A line for standard error, of a text that may be of somebody's file.
std::string noteText(const std::string &note);

/// Every option of training, a paragraph for each of its groups:
///   data       dataset=books, batch_size=12, ...
std::string settingsTable(const Options &options);

/// "step 250, validation loss 2.2081, the best so far": after the name of a
/// checkpoint that is written. `trained`: the loss of the last step's batch,
/// where nothing was evaluated.
std::string saidOfCheckpoint(int64_t step, std::optional<double> validation,
                             std::optional<double> trained, bool isBest);

struct RunEnd {
  std::string outDir;
  int64_t first = 0, step = 0; ///< where it began and where it is
  double seconds = 0;
  /// The best loss of the whole run; nothing where it was never evaluated.
  std::optional<double> bestLoss;
  uint64_t bestStep = 0;
  bool hasCheckpoint = false;
  int64_t skipped = 0; ///< steps, of outliers
};

/// The last lines of a run: how far and how long, its best loss and where, the
/// folder, and what to do with it.
std::string summaryOf(const RunEnd &end);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_REPORT_H
