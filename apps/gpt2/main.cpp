//===- main.cpp - The command nereid-gpt2 ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Commands.h"

#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/Parse.h"
#include "nereid/nereid.h" // brings the compiler

#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  return nereid::runCommand([=] {
    CLI::App app{"nereid-gpt2: trains GPT-2 models and samples from them",
                 "nereid-gpt2"};
    app.set_version_flag("--version", "nereid-gpt2 " NEREID_VERSION);
    nereid::gpt2::addCommands(app);
    return nereid::parseCommandLine(app, argc, argv);
  });
}
