//===- Interruption.cpp - Ctrl-C, where partial results count -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/CommandLine/Interruption.h"

#include <csignal>

namespace nereid {

static std::atomic<int> last = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a handler writes it");

static void note(int signal) { last = signal; }

static void setHandler(void (*handler)(int), int flags) {
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction now = {};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) {
      continue;
    }
    struct sigaction next = {};
    next.sa_handler = handler;
    next.sa_flags = flags;
    ::sigaction(signal, &next, nullptr);
  }
}

Interruption::Interruption(Of which) {
  last = 0;
  setHandler(note, which == Of::First ? int(SA_RESETHAND | SA_RESTART) : 0);
}

Interruption::~Interruption() { setHandler(SIG_DFL, 0); }

const std::atomic<int> &Interruption::noted() { return last; }

} // namespace nereid
