//===- Interruption.cpp - Ctrl-C, where partial results count -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/CommandLine/Interruption.h"

#include <csignal>

namespace nereid {

static volatile std::sig_atomic_t noted = 0;

static void note(int signal) { noted = signal; }

static void setHandler(int signal, void (*handler)(int)) {
  struct sigaction now = {};
  ::sigaction(signal, nullptr, &now);
  if (now.sa_handler == SIG_IGN) {
    return;
  }
  struct sigaction next = {};
  next.sa_handler = handler;
  next.sa_flags = handler == note ? int(SA_RESETHAND | SA_RESTART) : 0;
  ::sigaction(signal, &next, nullptr);
}

Interruption::Interruption() {
  noted = 0;
  setHandler(SIGINT, note);
  setHandler(SIGTERM, note);
}

Interruption::~Interruption() {
  setHandler(SIGINT, SIG_DFL);
  setHandler(SIGTERM, SIG_DFL);
}

int Interruption::signal() { return noted; }

} // namespace nereid
