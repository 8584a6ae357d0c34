//===- Knobs.cpp - Settings from the environment --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Knobs.h"

#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Log.h"

#include <charconv>
#include <cstdio>
#include <unistd.h>

namespace nereid {
namespace {

/// With a comma before each.
constexpr char policies[] =
#define NEREID_POLICY(word) "," word
#include "nereid/Support/Policies.def"
    ;
constexpr std::string_view policyWords = std::string_view(policies).substr(1);

/// Parses one value by its kind. The message says what was expected.
struct ValueParser {
  std::string_view variable, values, text;
  std::vector<std::string> &complaints;

  void complain(const std::string &expected) const {
    complaints.push_back(std::string(variable) + "=" + std::string(text) +
                         " is ignored: expected " + expected);
  }

  void operator()(knob::Text &out) const { out = text; }

  void operator()(knob::Flag &out) const {
    if (text == "1" || text == "true" || text == "on") {
      out = true;
    } else if (text == "0" || text == "false" || text == "off" ||
               text.empty()) {
      out = false;
    } else {
      complain("0 or 1");
    }
  }

  void operator()(knob::Count &out) const {
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 ||
        value > 4096) {
      complain(std::string(values));
      return;
    }
    out = value;
  }

  void operator()(knob::Bytes &out) const {
    uint64_t value = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    std::string_view suffix(end, text.data() + text.size() - end);
    static constexpr std::string_view letters = "KMG";
    size_t letter = suffix.empty() ? 0 : letters.find(suffix[0] & ~0x20);
    int shift = suffix.empty() ? 0 : 10 * (static_cast<int>(letter) + 1);
    bool tail = suffix.size() <= 1 || suffix.substr(1) == "B" ||
                suffix.substr(1) == "iB";
    if (error != std::errc() || letter == std::string_view::npos || !tail ||
        value > (UINT64_MAX >> shift)) {
      complain(std::string(values));
      return;
    }
    out = value << shift;
  }

  void operator()(knob::Words &out) const {
    std::vector<std::string> legal = splitWords(values);
    for (const std::string &word : splitWords(text)) {
      if (std::find(legal.begin(), legal.end(), word) != legal.end()) {
        out.push_back(word);
        continue;
      }
      complainOfWord(word, legal);
    }
  }

  void operator()(knob::Choice &out) const {
    std::vector<std::string> legal = splitWords(values);
    std::vector<std::string> words = splitWords(text);
    if (words.size() > 1) {
      complain("one of " + std::string(values) + didYouMean(words[0], legal));
    } else if (words.size() == 1 && std::ranges::count(legal, words[0]) == 0) {
      complainOfWord(words[0], legal);
    } else if (words.size() == 1) {
      out.word = words[0];
    }
  }

  void complainOfWord(const std::string &word,
                      const std::vector<std::string> &legal) const {
    complaints.push_back(std::string(variable) + ": '" + word +
                         "' is ignored; known are " + std::string(values) +
                         didYouMean(word, legal));
  }

  static std::vector<std::string> splitWords(std::string_view list) {
    std::vector<std::string> words;
    while (!list.empty()) {
      size_t comma = std::min(list.find(','), list.size());
      if (comma) {
        words.emplace_back(list.substr(0, comma));
      }
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return words;
  }
};

} // namespace

static void assign(Knobs &knobs, std::string_view name, std::string_view value,
                   std::vector<std::string> &complaints) {
#define NEREID_KNOB(field, kind, variable, values, text)                       \
  if (name == variable) {                                                      \
    ValueParser{variable, values, value, complaints}(knobs.field);             \
    return;                                                                    \
  }
#include "nereid/Support/Knobs.def"
  std::vector<std::string> known;
  for (const KnobDescription &row : knobTable()) {
    known.emplace_back(row.variable);
  }
  std::string hint = didYouMean(name, known);
  complaints.push_back(
      std::string(name) + " is no setting of Nereid" +
      (hint.empty() ? "; docs/KNOBS.md lists them all" : hint));
}

LanguageVersion Knobs::languageVersion() const {
  return language.word.empty()
             ? newestLanguage
             : static_cast<LanguageVersion>(language.word.back() - '0');
}

Knobs parseKnobs(const Environment &environment,
                 std::vector<std::string> &complaints) {
  Knobs result;
  for (const auto &[name, value] : environment) {
    if (name.starts_with("NEREID_")) {
      assign(result, name, value, complaints);
    }
  }
  return result;
}

static Knobs readEnvironment() {
  Environment environment;
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    size_t equals = text.find('=');
    if (text.starts_with("NEREID_") && equals != std::string_view::npos) {
      environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  std::vector<std::string> complaints;
  Knobs result = parseKnobs(environment, complaints);
  for (const std::string &complaint : complaints) {
    warn(complaint);
  }
  return result;
}

static Knobs &ofProcess() {
  static Knobs instance = readEnvironment();
  return instance;
}

const Knobs &processKnobs() { return ofProcess(); }

Knobs exchangeKnobs(Knobs settings) {
  detail::exchangesOfKnobs.fetch_add(1, std::memory_order_relaxed);
  return std::exchange(ofProcess(), std::move(settings));
}

const std::vector<KnobDescription> &knobTable() {
  static const std::vector<KnobDescription> table = {
#define NEREID_KNOB(field, kind, variable, values, text)                       \
  {variable, values, text},
#include "nereid/Support/Knobs.def"
  };
  return table;
}

std::string knobsMarkdown() {
  std::string out =
      "# Settings\n\n"
      "Environment variables, read once when a process first needs them. "
      "An unknown\n`NEREID_*` variable or a value that does not parse is "
      "reported on stderr and ignored.\n\n"
      "`scripts/update-docs` makes this page from `nereid/Support/Knobs.def` "
      "and `Policies.def`.\n\n"
      "| variable | value | effect |\n|---|---|---|\n";
  auto add = [&](std::string_view kind, const KnobDescription &row) {
    out += "| `" + std::string(row.variable) + "` | " +
           (kind == "Choice" ? "one of " : "") + std::string(row.values) +
           " | " + std::string(row.text) + " |\n";
  };
#define NEREID_KNOB(field, kind, variable, values, text)                       \
  add(#kind, {variable, values, text});
#include "nereid/Support/Knobs.def"
  return out;
}

} // namespace nereid
