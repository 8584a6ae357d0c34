//===- Testing.h - Command lines in tests -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_COMMANDS_TESTING_H
#define NEREID_APPS_GPT2_COMMANDS_TESTING_H

#include "apps/gpt2/commands/Commands.h"
#include "nereid/Runtime/Error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <gtest/gtest.h>

namespace nereid::gpt2 {

struct Outcome {
  std::string out, err, error;
};

/// What the command line `words` does, in this process.
inline Outcome runCommand(std::vector<std::string> words) {
  CLI::App app;
  addCommands(app);
  std::ranges::reverse(words);
  Outcome outcome;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  try {
    app.parse(words);
  } catch (const Error &error) {
    outcome.error = error.message();
  } catch (const CLI::Error &error) {
    outcome.error = error.what();
  }
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_COMMANDS_TESTING_H
