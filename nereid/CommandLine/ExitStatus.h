//===- ExitStatus.h - What the command ends with ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table for the program, its tests and docs/EXIT-STATUSES.md.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_COMMANDLINE_EXITSTATUS_H
#define NEREID_COMMANDLINE_EXITSTATUS_H

#include "nereid/ABI/Status.h"

#include <string>
#include <vector>

namespace nereid {

enum ExitStatus : int {
  ExitSuccess = 0,
  ExitFailure = 1,
  ExitUsage = 2,
  ExitBug = 3,
};

struct ExitStatusRow {
  ExitStatus status;
  const char *meaning;
  const char *examples;
  std::vector<ErrorCode> codes; ///< errors that end so
};

const std::vector<ExitStatusRow> &exitStatusTable();
ExitStatus exitStatusOf(ErrorCode code);
/// docs/EXIT-STATUSES.md
std::string exitStatusMarkdown();

} // namespace nereid

#endif // NEREID_COMMANDLINE_EXITSTATUS_H
