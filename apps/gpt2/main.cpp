//===- main.cpp - The command nereid-gpt2 ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Commands.h"

#include "nereid/nereid.h"

#include <CLI/CLI.hpp>

int main(int argc, char **argv) try {
  CLI::App app{"nereid-gpt2: trains GPT-2 models and samples from them"};
  nereid::gpt2::addCommands(app);
  CLI11_PARSE(app, argc, argv);
  return 0;
} catch (const nereid::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
