//===- RivalText.cpp - What --against names -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RivalText.h"

#include "Commands.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace nereid {

/// Quotes around a whole word, or after its '=', are the shell's.
static std::vector<std::string> wordsOf(const std::string &text) {
  std::vector<std::string> words;
  std::string word;
  bool isOpen = false;
  char quote = 0;
  int depth = 0;
  for (char c : text) {
    bool isBlank = std::isspace(static_cast<unsigned char>(c));
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (isBlank && depth <= 0) {
      if (isOpen) {
        words.push_back(word);
      }
      word.clear();
      isOpen = false;
      continue;
    }
    word += c;
    isOpen = true;
  }
  if (isOpen) {
    words.push_back(word);
  }
  return words;
}

static std::string withoutQuotes(const std::string &word) {
  bool isQuoted = word.size() >= 2 && word.front() == word.back() &&
                  (word.front() == '\'' || word.front() == '"');
  return isQuoted ? word.substr(1, word.size() - 2) : word;
}

/// "cuBLAS=torch:..." has a label; "torch:module.function" has none.
static void takeLabel(RivalText &rival) {
  size_t equals = rival.what.find('=');
  size_t colon = rival.what.find_first_of(":/");
  if (equals != std::string::npos && equals < colon) {
    rival.label = withoutQuotes(rival.what.substr(0, equals));
    rival.what = rival.what.substr(equals + 1);
  }
}

RivalText parseRival(const std::string &text) {
  std::vector<std::string> words = wordsOf(text);
  // 'two words=other.py:kernel': a label with blanks goes on to its '='.
  auto isEnd = [](const std::string &word) {
    return word.find_first_of("=:") != std::string::npos;
  };
  auto first = std::find_if(words.begin(), words.end(), isEnd);
  RivalText rival;
  size_t next = 0;
  if (first != words.end() && first != words.begin() &&
      first->find('=') < first->find(':')) {
    for (auto word = words.begin(); word <= first; ++word) {
      rival.what += (rival.what.empty() ? "" : " ") + *word;
    }
    next = size_t(first - words.begin()) + 1;
  } else if (!words.empty()) {
    rival.what = words[0];
    next = 1;
  }
  takeLabel(rival);
  constexpr std::string_view option = "--grid";
  for (; next < words.size(); ++next) {
    const std::string &word = words[next];
    bool isGrid = word == option || word.starts_with("--grid=");
    if (!isGrid) {
      rival.arguments.push_back(word);
      continue;
    }
    if (word != option) {
      rival.grid = withoutQuotes(word.substr(option.size() + 1));
    } else if (next + 1 < words.size()) {
      rival.grid = withoutQuotes(words[++next]);
    }
    if (rival.grid.empty()) {
      usageError("--against '" + text + "': expected sizes after --grid");
    }
  }
  if (rival.what.empty()) {
    usageError("--against '" + text +
               "': expected a device, FILE:KERNEL with what is different, or "
               "LABEL= in front of either");
  }
  return rival;
}

} // namespace nereid
