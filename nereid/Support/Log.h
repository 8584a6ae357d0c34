//===- Log.h - One line an event, on stderr ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_LOG_H
#define NEREID_SUPPORT_LOG_H

#include <string>
#include <string_view>

namespace nereid {

/// Text as a terminal may have it: bytes that would move its cursor, change its
/// colours or its title stand there as \x1b. Tabs, ends of lines and UTF-8
/// stay.
std::string printable(std::string_view text);

/// The words of NEREID_LOG.
enum class LogTopic { Cache, Compile, Dispatch, Launch, Tune };

/// Ask before building the text.
bool logEnabled(LogTopic topic);
/// "nereid: <topic>: <text>\n" in one write, so that lines of several
/// processes do not mix.
void logLine(LogTopic topic, const std::string &text);

/// "nereid: warning: <text>\n", whatever NEREID_LOG says.
void warn(const std::string &text);
/// The same, once for each different text in this process.
void warnOnce(const std::string &text);

} // namespace nereid

#endif // NEREID_SUPPORT_LOG_H
