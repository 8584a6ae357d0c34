//===- ExitStatus.cpp - What the command ends with ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/CommandLine/ExitStatus.h"

#include <algorithm>

namespace nereid {

const std::vector<ExitStatusRow> &exitStatusTable() {
  static const std::vector<ExitStatusRow> table = {
      {ExitSuccess,
       "everything that was asked for is done, and written",
       "also `--help` and `--version`",
       {}},
      {ExitFailure,
       "it was asked for rightly, and could not be done",
       "a kernel that does not compile, a fault in it, arrays that differ "
       "under `--check`, a file that is missing or cannot be written, standard "
       "output that is full or closed, no memory, no such device, a problem "
       "that `doctor` found, a launch of several that is not `ok`",
       {ErrorCode::CompileError, ErrorCode::NotFound, ErrorCode::Unsupported,
        ErrorCode::OutOfMemory, ErrorCode::IoError, ErrorCode::KernelFault}},
      {ExitUsage,
       "the command line, the launch or the launch file is not accepted",
       "an unknown option, an argument that does not fit the kernel, a grid of "
       "four sizes, an output that is an input, a key that launch files do not "
       "have",
       {ErrorCode::InvalidArgument}},
      {ExitBug,
       "Nereid is wrong",
       "the message begins with `internal error`; please report it",
       {ErrorCode::Internal}},
  };
  return table;
}

ExitStatus exitStatusOf(ErrorCode code) {
  for (const ExitStatusRow &row : exitStatusTable()) {
    if (std::count(row.codes.begin(), row.codes.end(), code)) {
      return row.status;
    }
  }
  return ExitBug;
}

std::string exitStatusMarkdown() {
  std::string text =
      "# Exit statuses of `nereid`\n\nMade by `scripts/update-docs` from the "
      "table in `nereid/CommandLine/ExitStatus.cpp`.\n\n| status | meaning | "
      "for "
      "example | error codes |\n|---|---|---|---|\n";
  for (const ExitStatusRow &row : exitStatusTable()) {
    text += "| " + std::to_string(row.status) + " | " + row.meaning + " | " +
            row.examples + " | ";
    for (size_t i = 0; i < row.codes.size(); ++i) {
      text += (i ? ", " : "") + std::string(name(row.codes[i]));
    }
    text += " |\n";
  }
  return text +
         "\nA signal that somebody sends ends the program as any other, and "
         "the shell then shows 128 and its number. `nereid bench` writes what "
         "it has measured before it ends with that status (130 for Ctrl-C). A "
         "reader that goes away "
         "(`nereid ... | head -1`) is a failure, not a signal. Where an error "
         "and a full standard output come together, the error decides.\n";
}

} // namespace nereid
