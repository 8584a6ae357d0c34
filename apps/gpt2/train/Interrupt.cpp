//===- Interrupt.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Interrupt.h"

#include <csignal>
#include <initializer_list>

using namespace nereid::gpt2;

static volatile std::sig_atomic_t noted = 0;

static void note(int number) { noted = number; }

static void install(void (*handler)(int), void (*instead)(int)) {
  for (int number : {SIGINT, SIGTERM}) {
    struct sigaction present = {};
    if (::sigaction(number, nullptr, &present) == 0 &&
        present.sa_handler == instead) {
      struct sigaction action = {};
      action.sa_handler = handler;
      // The second one finds the default again.
      action.sa_flags = SA_RESTART | SA_RESETHAND;
      ::sigaction(number, &action, nullptr);
    }
  }
}

Interrupt::Interrupt() {
  noted = 0;
  install(note, SIG_DFL);
}

Interrupt::~Interrupt() { install(SIG_DFL, note); }

int Interrupt::signal() const { return noted; }
