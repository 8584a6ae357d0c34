//===- Train.cpp - nereid-gpt2 train ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/TrainingOptions.h"

#include "apps/gpt2/commands/Commands.h"
#include "apps/gpt2/distributed/Launcher.h"
#include "apps/gpt2/distributed/Placement.h"
#include "apps/gpt2/train/Interrupt.h"
#include "apps/gpt2/train/Resume.h"
#include "apps/gpt2/train/Run.h"

#include <CLI/CLI.hpp>
#include <csignal>

using namespace nereid;
using namespace nereid::gpt2;

/// As a process that catches no signals; where it is ignored, nothing.
static void endBy(int signal) {
  Interrupt::release();
  std::raise(signal);
}

void gpt2::addTrainCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "train", "trains a model; options as nanoGPT's, by name or from a file");
  auto given = std::make_shared<TrainingOptions>(*command);
  command->callback([given] {
    std::vector<std::string> notes;
    Options options = optionsOfRun(given->read(), notes);
    if (std::optional<int> status = startProcesses(options)) {
      for (int signal : stopSignals) {
        if (*status == statusOfSignal(signal)) {
          endBy(signal);
        }
      }
      throw CLI::RuntimeError(*status);
    }
    int signal = train(options, notes);
    if (signal != 0 && isLaunched()) {
      throw CLI::RuntimeError(statusOfSignal(signal));
    }
    if (signal != 0) {
      endBy(signal);
    }
  });
}
