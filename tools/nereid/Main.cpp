//===- Main.cpp - The command nereid --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "llvm/Support/ErrorHandling.h"

#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/Parse.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"
#include "nereid/Support/Files.h"
#include "nereid/nereid.h"

#include <CLI/CLI.hpp>

namespace nereid {

void printWarnings(const KernelDescription &kernel) {
  for (const Diagnostic &diagnostic : kernel.unknown) {
    if (diagnostic.severity == Severity::Warning) {
      printDiagnostic(diagnostic);
    }
  }
}

/// "--check interp" as "--check=interp": the value may be left out, so the
/// parser would take whatever follows for it.
static std::vector<char *> joinCheck(int argc, char **argv) {
  static char joined[] = "--check=interp";
  std::vector<char *> result;
  for (int i = 0; i < argc; ++i) {
    bool joins = i + 1 < argc && argv[i] == std::string_view("--check") &&
                 argv[i + 1] == std::string_view("interp");
    result.push_back(joins ? joined : argv[i]);
    i += joins;
  }
  return result;
}

static int run(int argc, char **argv) {
  CLI::App app{"Nereid: compiles and runs Triton-language kernels", "nereid"};
  app.set_version_flag("--version", "nereid " NEREID_VERSION);
  app.require_subcommand(1);
  app.footer("Settings from the environment: docs/KNOBS.md, or nereid doctor.");
  keepCommandLine(argc, argv);
  gpu::installSimulator();
  protectInputs();
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endWithoutMemory(); });
  addRunCommand(app);
  addExplainCommand(app);
  addBenchCommand(app);
  addTuneCommand(app, {argv, argv + argc});
  addCompileCommand(app);
  addDoctorCommand(app);
  addBuiltinsCommand(app);
  std::vector<char *> words = joinCheck(argc, argv);
  return parseCommandLine(app, static_cast<int>(words.size()), words.data());
}

} // namespace nereid

int main(int argc, char **argv) {
  return nereid::runCommand([=] { return nereid::run(argc, argv); });
}
