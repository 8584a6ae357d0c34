//===- CommandProcess.h - The process around a command ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What surrounds every subcommand: signals, descriptors, memory that runs out,
// and the text and the status that an error ends with.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_COMMANDLINE_COMMANDPROCESS_H
#define NEREID_COMMANDLINE_COMMANDPROCESS_H

#include <functional>
#include <string>
#include <string_view>

namespace nereid {

struct Diagnostic;

/// Runs `command`, which returns an exit status or throws; prints what is
/// thrown, and makes sure that standard output took everything.
int runCommand(const std::function<int()> &command);

/// What the process was started with, as a shell takes it; set once, by main.
void keepCommandLine(int argc, const char *const *argv);
const std::string &commandLine();
/// "2026-11-26 05:10 UTC"; the date of SOURCE_DATE_EPOCH where that is set.
std::string dateText();

/// The end of a process without memory, with a line that says so. Takes no
/// memory itself.
[[noreturn]] void endWithoutMemory();

/// On standard error, fit for a terminal.
void printError(const std::string &text);
void printDiagnostic(const Diagnostic &diagnostic);

/// Whole texts for standard output; throws Error(IoError) when it does not take
/// them.
void writeOutput(std::string_view text);

/// Throws Error for a file that cannot be written; "-" is standard output.
void writeResult(const std::string &path, std::string_view content);

} // namespace nereid

#endif // NEREID_COMMANDLINE_COMMANDPROCESS_H
