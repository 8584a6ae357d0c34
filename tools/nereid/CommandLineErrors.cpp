//===- CommandLineErrors.cpp - Wrong command lines, explained -------------===//
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

#include "CommandLineErrors.h"

#include "nereid/Support/EditDistance.h"

#include <CLI/CLI.hpp>
#include <regex>
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
  return &app == &command || name.empty() ? "nereid" : "nereid " + name;
}

/// Words that no option and no argument takes.
static std::string explainExtras(const CLI::App &app, const CLI::App &command) {
  std::vector<std::string> extras = app.remaining(true);
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  std::string first = extras.empty() ? "" : extras.front();
  return "expected an option or argument of " + nameOf(app, command) +
         ", got '" + first + "'" + didYouMean(first, names);
}

static std::string explain(const CLI::App &app, const CLI::App &command,
                           const CLI::ParseError &error) {
  if (dynamic_cast<const CLI::ExtrasError *>(&error)) {
    return explainExtras(app, command);
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

std::string explainParseError(const CLI::App &app,
                              const CLI::ParseError &error) {
  const CLI::App &command = commandOf(app);
  return explain(app, command, error) + "\n(" + nameOf(app, command) +
         " --help tells more)";
}

} // namespace nereid
