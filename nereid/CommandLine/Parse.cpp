//===- Parse.cpp - Command lines, and what is wrong with them -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CLI11 tells what was wrong in words of its own, some of them made of parts:
// "--emit: At Most 1 required but received 2". The kinds are told apart by
// their type, and the parts by the fixed words between them.
//
//===----------------------------------------------------------------------===//

#include "nereid/CommandLine/Parse.h"

#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/ExitStatus.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/EditDistance.h"

#include <CLI/CLI.hpp>
#include <regex>
#include <sstream>
#include <vector>

namespace nereid {

namespace {
/// Words of the library in the order of their parts, and ours for them.
struct Rewording {
  const char *pattern;
  const char *replacement;
};

constexpr Rewording rewordings[] = {
    {"(.*): At [Mm]ost (\\d+) required but received (\\d+)",
     "$1: expected at most $2 of it, got $3"},
    {"(.*): At [Ll]east (\\d+) required but received (\\d+)",
     "$1: expected at least $2 of it, got $3"},
    {"(.*): \\d+ required .* missing", "$1: expected a value, got none"},
    {"Expected exactly (\\d+) arguments to (.*), got (\\d+)",
     "$2: expected $1 of it, got $3"},
    {"Expected at least (\\d+) arguments to (.*), got (\\d+)",
     "$2: expected at least $1 of it, got $3"},
    {"(.*) was given a disallowed flag override",
     "$1: expected no value, got one"},
    {"(.*) requires (.*)", "$1: expected $2 beside it, got none"},
    {"(.*) excludes (.*)", "expected either $1 or $2, got both"},
    {"(.*) is required", "expected $1, got none"},
};
} // namespace

[[noreturn]] static void refuse(const std::string &message) {
  raise({ErrorCode::InvalidArgument, message, {}});
}

static std::string listOf(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

/// The command that was named, or the program.
static const CLI::App &commandOf(const CLI::App &app) {
  std::vector<CLI::App *> parsed = app.get_subcommands();
  return parsed.empty() ? app : *parsed.front();
}

static std::string nameOf(const CLI::App &app, const CLI::App &command) {
  std::string name = command.get_name();
  return app.get_name() + (&app == &command || name.empty() ? "" : " " + name);
}

/// A word that no option and no argument takes.
static std::string explainExtra(const CLI::App &app, const CLI::App &command,
                                const std::string &word) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return "expected an option or argument of " + nameOf(app, command) +
         ", got '" + word + "'" +
         didYouMean(word.substr(0, word.find('=')), names);
}

static std::string explain(const CLI::App &app, const CLI::App &command,
                           const CLI::ParseError &error) {
  if (dynamic_cast<const CLI::ExtrasError *>(&error)) {
    std::vector<std::string> extras = app.remaining(true);
    return explainExtra(app, command, extras.empty() ? "" : extras.front());
  }
  if (dynamic_cast<const CLI::RequiredError *>(&error) && &command == &app) {
    std::vector<std::string> names;
    for (const CLI::App *known : app.get_subcommands(nullptr)) {
      names.push_back(known->get_name());
    }
    return "expected one of the commands " + listOf(names) + ", got none";
  }
  std::string text = error.what();
  for (const Rewording &rewording : rewordings) {
    std::regex pattern(rewording.pattern);
    if (std::regex_match(text, pattern)) {
      return std::regex_replace(text, pattern, rewording.replacement);
    }
  }
  return text;
}

static std::string explainParseError(const CLI::App &app,
                                     const CLI::ParseError &error) {
  const CLI::App &command = commandOf(app);
  return explain(app, command, error) + "\n(" + nameOf(app, command) +
         " --help tells more)";
}

/// "rn" -> "; did you mean 'run'?". CLI11 would only say that the word was not
/// expected.
static void checkSubcommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2) {
    return;
  }
  std::string first = argv[1];
  if (first.starts_with("-")) {
    if (!app.get_option_no_throw(first.substr(0, first.find('=')))) {
      refuse(explainExtra(app, app, first));
    }
    return;
  }
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), first) == names.end()) {
    refuse("expected one of the commands " + listOf(names) + ", got '" + first +
           "'" + didYouMean(first, names));
  }
}

int parseCommandLine(CLI::App &app, int argc, char **argv) {
  checkSubcommand(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError &error) {
    return error.get_exit_code(); // a command's own
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() != 0) {
      refuse(explainParseError(app, error));
    }
    std::ostringstream out, err; // --help and --version
    app.exit(error, out, err);
    writeOutput(out.str());
  }
  return ExitSuccess;
}

} // namespace nereid
