//===- ProgressLine.h - What a command is at ------------------ -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_PROGRESSLINE_H
#define NEREID_TOOLS_NEREID_PROGRESSLINE_H

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nereid {

/// The last line of a terminal on standard error, cut to its width; nothing
/// elsewhere, and on a terminal that cannot take a line back (TERM=dumb).
class ProgressLine {
public:
  ~ProgressLine() { show(""); }
  void show(const std::string &text) const {
    if (isTerminal) {
      std::fprintf(stderr, "\r\033[K%.*s", widthOf(), text.c_str());
    }
  }

private:
  static int widthOf() {
    constexpr int usual = 80;
    winsize size{};
    bool isKnown =
        ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col;
    return (isKnown ? int(size.ws_col) : usual) - 1;
  }
  static bool isDumb() {
    const char *term = std::getenv("TERM");
    return term && std::string_view(term) == "dumb";
  }
  const bool isTerminal = ::isatty(STDERR_FILENO) && !isDumb();
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_PROGRESSLINE_H
