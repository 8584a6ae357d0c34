//===- TuneWorker.h - The process that tunes -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_TUNE_TUNEWORKER_H
#define NEREID_TOOLS_NEREID_TUNE_TUNEWORKER_H

#include "nereid/Tune/Tuner.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

/// What nereid tune is to launch.
struct TuneLaunch {
  std::string kernel, grid, device = "cpu";
  std::vector<std::string> arguments, bindings, values;
  uint64_t seed = 0;
  uint64_t seconds = 0; ///< 0: not said
  uint64_t rounds = tune::TunerOptions().mostRounds;
  bool search = false, again = false, compilesOneByOne = false;
  std::string folder; ///< for the time of the command
  std::string trace;  ///< not empty: a trace into the folder
};

/// Launches the kernel, and tells the descriptor what happens.
void runTuneWorker(const TuneLaunch &launch, int pipe);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_TUNE_TUNEWORKER_H
