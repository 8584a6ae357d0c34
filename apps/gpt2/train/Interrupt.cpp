//===- Interrupt.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Interrupt.h"

#include <csignal>
#include <ctime>
#include <initializer_list>

using namespace nereid::gpt2;

static volatile std::sig_atomic_t noted = 0;
static timespec notedAt = {};

/// One wish may come twice: from the terminal and from what has started this
/// process. Only what is safe in a handler.
static void note(int number) {
  constexpr time_t secondsOfOneWish = 1;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (noted == 0) {
    notedAt = now;
    noted = number;
  } else if (now.tv_sec - notedAt.tv_sec > secondsOfOneWish) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

static void install(void (*handler)(int), void (*instead)(int)) {
  for (int number : {SIGINT, SIGTERM}) {
    struct sigaction present = {};
    if (::sigaction(number, nullptr, &present) == 0 &&
        present.sa_handler == instead) {
      struct sigaction action = {};
      action.sa_handler = handler;
      // Both change the same variables.
      sigaddset(&action.sa_mask, SIGINT);
      sigaddset(&action.sa_mask, SIGTERM);
      action.sa_flags = SA_RESTART;
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
