//===- TraceOption.h - --trace FILE -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_TRACEOPTION_H
#define NEREID_TOOLS_NEREID_TRACEOPTION_H

#include "nereid/Prof/Profiler.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace nereid {

class OutputFiles;

void addTraceOption(CLI::App &command, std::string &path);

/// Refuses a file that cannot be written, or that is another output.
void requireTrace(OutputFiles &files, const std::string &path);

/// Records the rest of the command, where a file is named. "-" is standard
/// output. A command that fails leaves the trace of what it did.
class CommandTrace {
public:
  explicit CommandTrace(std::string path);
  ~CommandTrace();
  CommandTrace(const CommandTrace &) = delete;
  CommandTrace &operator=(const CommandTrace &) = delete;

  /// Writes, and says on standard error what the trace lacks.
  void finish();

private:
  std::string path;
  std::optional<Profiler> profiler;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_TRACEOPTION_H
