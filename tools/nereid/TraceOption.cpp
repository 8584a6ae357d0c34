//===- TraceOption.cpp - --trace FILE -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TraceOption.h"

#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace nereid {

void addTraceOption(CLI::App &command, std::string &path) {
  command.add_option("--trace", path,
                     "FILE, or -: what compilations, launches and devices did "
                     "when, for chrome://tracing and ui.perfetto.dev");
}

void requireTrace(OutputFiles &files, const std::string &path) {
  if (!path.empty() && path != "-") {
    throwIfFailed(files.add("--trace", path));
  }
}

CommandTrace::CommandTrace(std::string file) : path(std::move(file)) {
  if (!path.empty()) {
    profiler.emplace();
    profiler->start();
  }
}

CommandTrace::~CommandTrace() {
  try {
    finish();
  } catch (const Error &error) {
    printError(std::string("error: ") + error.what() + "\n");
  }
}

void CommandTrace::finish() {
  if (!profiler || path.empty()) {
    return;
  }
  std::string to = std::exchange(path, "");
  profiler->stop();
  writeResult(to, profiler->json());
  for (const std::string &note : profiler->notes()) {
    std::fprintf(stderr, "nereid: trace: %s\n", note.c_str());
  }
}

} // namespace nereid
