//===- Main.cpp - The command nereid --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineErrors.h"
#include "CommandProcess.h"
#include "Commands.h"
#include "ExitStatus.h"

#include "nereid/Runtime/cuda/simulated/SimulatedDriver.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/nereid.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace nereid {

void printWarnings(const KernelDescription &kernel) {
  for (const Diagnostic &diagnostic : kernel.unknown) {
    if (diagnostic.severity == Severity::Warning) {
      printDiagnostic(diagnostic);
    }
  }
}

/// "rn" -> "; did you mean 'run'?". CLI11 would only say that the word was not
/// expected.
static void checkSubcommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2 || argv[1][0] == '-') {
    return;
  }
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App *command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    usageError("expected one of the commands " + list + ", got '" +
               std::string(argv[1]) + "'" + didYouMean(argv[1], names));
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
  CLI::App app{"Nereid: compiles and runs Triton-language kernels"};
  app.set_version_flag("--version", "nereid " NEREID_VERSION);
  app.require_subcommand(1);
  app.footer("Settings from the environment: docs/KNOBS.md, or nereid doctor.");
  cuda::installSimulator();
  addRunCommand(app);
  addExplainCommand(app);
  addBenchCommand(app);
  addTuneCommand(app, {argv, argv + argc});
  addCompileCommand(app);
  addDoctorCommand(app);
  addBuiltinsCommand(app);
  checkSubcommand(app, argc, argv);
  try {
    std::vector<char *> words = joinCheck(argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::RuntimeError &error) {
    return error.get_exit_code(); // a command's own
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() != 0) {
      usageError(explainParseError(app, error));
    }
    std::ostringstream out, err; // --help and --version
    app.exit(error, out, err);
    writeOutput(out.str());
    return ExitSuccess;
  }
  return ExitSuccess;
}

} // namespace nereid

int main(int argc, char **argv) {
  return nereid::runCommand([=] { return nereid::run(argc, argv); });
}
