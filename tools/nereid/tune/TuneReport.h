//===- TuneReport.h - What nereid tune shows --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_TUNE_TUNEREPORT_H
#define NEREID_TOOLS_NEREID_TUNE_TUNEREPORT_H

#include "nereid/Tune/Supervisor.h"

namespace nereid {

/// One line of a terminal that can go back to its beginning, or nothing.
class TuneProgress {
public:
  TuneProgress();
  ~TuneProgress();
  void show(const tune::Progress &progress);

private:
  void write(const std::string &line);
  bool isShown;
};

/// The choice, how much it is worth, and a line a configuration in the order of
/// what counts. `seconds`: of the whole command.
std::string tuneReport(const tune::WorkerResult &result,
                       const std::string &device, double seconds);
/// The report of a tuning that was stopped before it had a choice.
std::string tuneReport(const std::vector<tune::TrialRecord> &trials);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_TUNE_TUNEREPORT_H
