//===- ConfigFile.cpp - nanoGPT's configuration files -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/ConfigExpression.h"
#include "apps/gpt2/Options.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

/// One line, and where it stands.
struct Line {
  const std::string &path;
  std::string text;
  uint32_t number;

  [[noreturn]] void fail(size_t column, const std::string &message,
                         const std::string &hint = "") const {
    Diagnostic d;
    d.location = {path, number, uint32_t(column + 1), number,
                  uint32_t(text.size() + 1)};
    d.message = message;
    d.sourceLine = text;
    d.hint = hint;
    raise({ErrorCode::InvalidArgument, message, {d}});
  }
};

bool isNameCharacter(char c) {
  return c == '_' || (c >= '0' && c <= '9') ||
         ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/// A file, read from its first line to its last.
class ConfigReader {
public:
  explicit ConfigReader(Options &options) : options(options) {}

  void read(const Line &line);
  /// Names that are no options, and that no later line uses.
  void finish() const;

  std::vector<std::string> without;

private:
  struct Variable {
    Line line; ///< where it was first assigned
    size_t place;
    std::string message; ///< why it is no option
    bool isUsed = false;
  };

  void assign(const Line &line, const std::string &name, size_t begin,
              size_t at);
  const ConfigValue *valueOf(const std::string &name);

  Options &options;
  std::map<std::string, ConfigValue> values;
  std::map<std::string, Variable> variables; ///< that are no options
};

} // namespace

bool gpt2::isIgnoredOption(const std::string &name) {
  return std::ranges::count(ignoredOptions(), name) > 0;
}

const std::vector<std::string> &gpt2::ignoredOptions() {
  static const std::vector<std::string> names = {"wandb_log", "wandb_project",
                                                 "wandb_run_name", "backend"};
  return names;
}

/// "import time" and "from os import path": whatever uses the module is looked
/// at where it stands.
static bool isImport(const std::string &text, size_t begin) {
  return text.compare(begin, 7, "import ") == 0 ||
         (text.compare(begin, 5, "from ") == 0 &&
          text.find(" import ", begin) != std::string::npos);
}

void ConfigReader::read(const Line &line) {
  const std::string &text = line.text;
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos || text[begin] == '#' ||
      isImport(text, begin)) {
    return;
  }
  size_t end = begin;
  while (end < text.size() && isNameCharacter(text[end])) {
    ++end;
  }
  size_t equals = text.find_first_not_of(" \t", end);
  if (end == begin || equals == std::string::npos || text[equals] != '=' ||
      text.substr(equals, 2) == "==") {
    line.fail(begin, "expected 'name = value'",
              "a configuration file assigns options, and runs no other Python");
  }
  std::string name = text.substr(begin, end - begin);
  size_t at = text.find_first_not_of(" \t", equals + 1);
  if (at == std::string::npos || text[at] == '#') {
    line.fail(equals, "expected a value after '='");
  }
  assign(line, name, begin, at);
}

void ConfigReader::assign(const Line &line, const std::string &name,
                          size_t begin, size_t at) {
  ConfigValue value;
  try {
    value = evaluate(std::string_view(line.text).substr(at),
                     [&](const std::string &used) { return valueOf(used); });
  } catch (const ConfigExpressionError &error) {
    line.fail(at + error.place, error.message);
  }
  values[name] = value;
  if (isIgnoredOption(name)) {
    without.push_back(name);
    return;
  }
  try {
    setOption(options, name, textOf(value));
  } catch (const Error &error) {
    if (error.message().find("expected an option") != 0) {
      line.fail(at, error.message());
    }
    variables.emplace(name, Variable{line, begin, error.message()});
  }
}

/// Of a line before, or the option's value, as nanoGPT's files see its
/// defaults.
const ConfigValue *ConfigReader::valueOf(const std::string &name) {
  if (auto variable = variables.find(name); variable != variables.end()) {
    variable->second.isUsed = true;
  }
  auto found = values.find(name);
  if (found == values.end()) {
    nlohmann::json all = toJson(options);
    auto option = all.find(name);
    if (option == all.end()) {
      return nullptr;
    }
    ConfigValue value =
        option->is_boolean()          ? ConfigValue(option->get<bool>())
        : option->is_number_integer() ? ConfigValue(option->get<int64_t>())
        : option->is_number()         ? ConfigValue(option->get<double>())
                                      : ConfigValue(option->get<std::string>());
    found = values.emplace(name, value).first;
  }
  return &found->second;
}

void ConfigReader::finish() const {
  for (const auto &[name, variable] : variables) {
    if (!variable.isUsed) {
      variable.line.fail(variable.place, variable.message);
    }
  }
}

std::vector<std::string> gpt2::readConfigText(Options &options,
                                              std::string_view text,
                                              const std::string &path) {
  ConfigReader reader(options);
  uint32_t number = 0;
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3); // a byte order mark
  }
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    reader.read({path, line, ++number});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  reader.finish();
  return reader.without;
}

std::vector<std::string> gpt2::readConfig(Options &options,
                                          const std::string &path) {
  return readConfigText(options, valueOrThrow(readFile(path)), path);
}
