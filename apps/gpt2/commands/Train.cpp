//===- Train.cpp - nereid-gpt2 train ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/TrainingOptions.h"

#include "apps/gpt2/commands/Commands.h"
#include "apps/gpt2/distributed/Placement.h"
#include "apps/gpt2/train/Run.h"

#include <CLI/CLI.hpp>

using namespace nereid;
using namespace nereid::gpt2;

void gpt2::addTrainCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "train", "trains a model; options as nanoGPT's, by name or from a file");
  auto given = std::make_shared<TrainingOptions>(*command);
  command->callback([given] {
    Options options = given->read();
    if (std::optional<int> status = startProcesses(options)) {
      throw CLI::RuntimeError(*status);
    }
    train(options);
  });
}
