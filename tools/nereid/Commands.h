//===- Commands.h - The subcommands of nereid -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each adds itself to the program; its options live as long as the program.
// A callback throws nereid::Error for whatever goes wrong.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_COMMANDS_H
#define NEREID_TOOLS_NEREID_COMMANDS_H

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace nereid {

struct KernelDescription;

void addRunCommand(CLI::App &app);
void addExplainCommand(CLI::App &app);
void addBenchCommand(CLI::App &app);
/// `words`: the command line, with which it starts itself again.
void addTuneCommand(CLI::App &app, std::vector<std::string> words);
void addCompileCommand(CLI::App &app);
void addDoctorCommand(CLI::App &app);
void addBuiltinsCommand(CLI::App &app);

/// "softmax.py:softmax_kernel" -> path and kernel; the kernel may be missing.
std::pair<std::string, std::string> splitKernel(const std::string &text);

/// What is wrong with the decorators of a kernel that can be run all the same.
void printWarnings(const KernelDescription &kernel);

/// For a command line that cannot be understood: throws
/// Error(InvalidArgument).
[[noreturn]] void usageError(const std::string &message);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_COMMANDS_H
