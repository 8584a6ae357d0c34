//===- Parse.cpp - Command lines, and what is wrong with them -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CLI11 tells what was wrong in words of its own, which change with its
// version. Here an error's type says the kind, and the state of the parsed
// options says which of them is meant and how often it was given.
//
//===----------------------------------------------------------------------===//

#include "nereid/CommandLine/Parse.h"

#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/ExitStatus.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/EditDistance.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <vector>

namespace nereid {

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

static std::string explainRequired(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_required() && option->count() == 0) {
      return "expected " + option->get_name() + ", got none";
    }
  }
  return "";
}

static std::string explainNeeds(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options()) {
    for (const CLI::Option *other : option->get_needs()) {
      if (option->count() != 0 && other->count() == 0) {
        return option->get_name() + ": expected " + other->get_name() +
               " beside it, got none";
      }
    }
  }
  return "";
}

static std::string explainExcludes(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options()) {
    for (const CLI::Option *other : option->get_excludes()) {
      if (option->count() != 0 && other->count() != 0) {
        return "expected either " + option->get_name() + " or " +
               other->get_name() + ", got both";
      }
    }
  }
  return "";
}

/// An option was given too often, or with too few values. `text` names it.
static std::string explainCount(const CLI::App &command,
                                const std::string &text) {
  const CLI::Option *found = nullptr;
  for (const CLI::Option *option : command.get_options()) {
    bool isLonger =
        !found || option->get_name().size() > found->get_name().size();
    if (isLonger && text.find(option->get_name()) != std::string::npos) {
      found = option;
    }
  }
  if (!found) {
    return "";
  }
  int least = found->get_items_expected_min(),
      most = found->get_items_expected_max();
  auto got = static_cast<int>(found->count());
  std::string numbers = std::to_string(got > most ? most : least) +
                        " of it, got " + std::to_string(got);
  return found->get_name() + ": expected " +
         (most == 0    ? "no value, got one"
          : got == 0   ? "a value, got none"
          : got > most ? "at most " + numbers
                       : "at least " + numbers);
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
  std::string text = error.what(), reason;
  if (dynamic_cast<const CLI::RequiredError *>(&error)) {
    reason = explainRequired(command);
  } else if (dynamic_cast<const CLI::RequiresError *>(&error)) {
    reason = explainNeeds(command);
  } else if (dynamic_cast<const CLI::ExcludesError *>(&error)) {
    reason = explainExcludes(command);
  } else if (dynamic_cast<const CLI::ArgumentMismatch *>(&error)) {
    reason = explainCount(command, text);
  }
  return reason.empty() ? text : reason;
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
