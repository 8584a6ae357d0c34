//===- Commands.cpp - The commands of nereid-gpt2 -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Commands.h"

#include <CLI/CLI.hpp>

void nereid::gpt2::addCommands(CLI::App &app) {
  app.require_subcommand(1);
  addPrepareCommand(app);
  addExportCommand(app);
  addTrainCommand(app);
  addEvalCommand(app);
  addSampleCommand(app);
  addBenchCommand(app);
}
