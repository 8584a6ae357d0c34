//===- ConfigFile.cpp - nanoGPT's configuration files -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/Options.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <array>

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

bool isUnused(const std::string &name) {
  constexpr std::array names = {"wandb_log", "wandb_project", "wandb_run_name",
                                "backend"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

/// The value from `begin` on, without quotes and comment.
static std::string valueOf(const Line &line, size_t begin) {
  const std::string &text = line.text;
  char quote = text[begin];
  if (quote == '"' || quote == '\'') {
    size_t end = text.find(quote, begin + 1);
    if (end == std::string::npos) {
      line.fail(begin, "expected the quote that ends this text");
    }
    size_t rest = text.find_first_not_of(" \t", end + 1);
    if (rest != std::string::npos && text[rest] != '#') {
      line.fail(rest, "expected the end of the line, got '" +
                          text.substr(rest) + "'");
    }
    return text.substr(begin + 1, end - begin - 1);
  }
  std::string value = text.substr(begin, text.find('#', begin) - begin);
  value.erase(value.find_last_not_of(" \t") + 1);
  return value;
}

static void readLine(Options &options, const Line &line,
                     std::vector<std::string> &without) {
  const std::string &text = line.text;
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos || text[begin] == '#') {
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
  if (isUnused(name)) {
    without.push_back(name);
    return;
  }
  try {
    setOption(options, name, valueOf(line, at));
  } catch (const Error &error) {
    if (!error.diagnostics().empty()) {
      throw;
    }
    bool isName = error.message().find("expected an option") == 0;
    line.fail(isName ? begin : at, error.message());
  }
}

std::vector<std::string> gpt2::readConfigText(Options &options,
                                              std::string_view text,
                                              const std::string &path) {
  std::vector<std::string> without;
  uint32_t number = 0;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    readLine(options, {path, line, ++number}, without);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return without;
}

std::vector<std::string> gpt2::readConfig(Options &options,
                                          const std::string &path) {
  return readConfigText(options, valueOrThrow(readFile(path)), path);
}
