//===- Log.cpp - One line an event, on stderr -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Log.h"

#include "nereid/Support/Knobs.h"

#include <mutex>
#include <set>
#include <unistd.h>

namespace nereid {

static const char *word(LogTopic topic) {
  switch (topic) {
  case LogTopic::Cache:
    return "cache";
  case LogTopic::Compile:
    return "compile";
  case LogTopic::Dispatch:
    return "dispatch";
  case LogTopic::Launch:
    return "launch";
  case LogTopic::Tune:
    return "tune";
  }
  return "";
}

std::string printable(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, as UTF-8, are control characters, too.
    bool isSecond = byte >= 0x80 && byte < 0xa0 && i > 0 &&
                    static_cast<unsigned char>(text[i - 1]) == 0xc2;
    bool isControl = (byte < 0x20 && byte != '\n' && byte != '\t') ||
                     byte == 0x7f || isSecond;
    if (!isControl) {
      result += text[i];
      continue;
    }
    constexpr char digits[] = "0123456789abcdef";
    result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return result;
}

static void writeLine(const std::string &text) {
  std::string line = printable(text);
  // What stderr refuses has nowhere else to go.
  [[maybe_unused]] ssize_t put = ::write(2, line.data(), line.size());
}

bool logEnabled(LogTopic topic) {
  const Knobs &settings = knobs();
  return !settings.log.empty() && settings.logs(word(topic));
}

void logLine(LogTopic topic, const std::string &text) {
  writeLine("nereid: " + std::string(word(topic)) + ": " + text + "\n");
}

void warn(const std::string &text) {
  writeLine("nereid: warning: " + text + "\n");
}

void warnOnce(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (said.insert(text).second) {
    warn(text);
  }
}

} // namespace nereid
