//===- Main.cpp - The command nereid --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "nereid/Support/EditDistance.h"
#include "nereid/nereid.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

namespace nereid {

void usageError(const std::string &message) {
  raise({ErrorCode::InvalidArgument, message, {}});
}

void printWarnings(const KernelDescription &kernel) {
  for (const Diagnostic &diagnostic : kernel.unknown) {
    if (diagnostic.severity == Severity::Warning) {
      std::fputs(render(diagnostic).c_str(), stderr);
    }
  }
}

std::pair<std::string, std::string> splitKernel(const std::string &text) {
  size_t colon = text.rfind(':');
  // A path may hold a colon of its own.
  if (colon == std::string::npos || std::filesystem::exists(text)) {
    return {text, ""};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
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
    usageError("no command '" + std::string(argv[1]) + "'" +
               didYouMean(argv[1], names) + " Commands: " + list);
  }
}

static int run(int argc, char **argv) {
  CLI::App app{"Nereid: compiles and runs Triton-language kernels"};
  app.set_version_flag("--version", "nereid " NEREID_VERSION);
  app.require_subcommand(1);
  app.footer("Settings from the environment: docs/KNOBS.md, or nereid doctor.");
  addRunCommand(app);
  addCompileCommand(app);
  addDoctorCommand(app);
  addBuiltinsCommand(app);
  checkSubcommand(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError &error) {
    return error.get_exit_code(); // a command's own
  } catch (const CLI::ParseError &error) {
    // 0 for --help and --version; one code for every wrong command line.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

} // namespace nereid

int main(int argc, char **argv) {
  try {
    return nereid::run(argc, argv);
  } catch (const nereid::Error &error) {
    std::string text = error.what();
    // What is said with a position starts with file:line:col: error.
    bool located = !error.diagnostics().empty() &&
                   error.diagnostics()[0].message == error.message();
    std::fprintf(stderr, "%s%s%s", located ? "" : "error: ", text.c_str(),
                 text.ends_with('\n') ? "" : "\n");
    return error.code() == nereid::ErrorCode::InvalidArgument ? 2 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return 3;
  }
}
