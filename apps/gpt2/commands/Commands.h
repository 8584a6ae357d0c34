//===- Commands.h - The commands of nereid-gpt2 ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each adds its options to `app` and runs when the command line names it. An
// error is thrown as nereid::Error.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_COMMANDS_COMMANDS_H
#define NEREID_APPS_GPT2_COMMANDS_COMMANDS_H

namespace CLI {
class App;
}

namespace nereid::gpt2 {

void addPrepareCommand(CLI::App &app);
void addExportCommand(CLI::App &app);
void addTrainCommand(CLI::App &app);
void addEvalCommand(CLI::App &app);
void addSampleCommand(CLI::App &app);
void addBenchCommand(CLI::App &app);

/// Adds every command.
void addCommands(CLI::App &app);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_COMMANDS_COMMANDS_H
