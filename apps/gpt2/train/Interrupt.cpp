//===- Interrupt.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Interrupt.h"

#include <ctime>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

static volatile std::sig_atomic_t noted = 0;
/// Of the process that started this one, and of everybody else.
static volatile std::sig_atomic_t wishes[2] = {};
static int64_t notedAt = 0;
static Interrupt::Clock clockOfWishes = nullptr;
static pid_t starter = 0;

static int64_t monotonicNanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Only what is safe in a handler.
static void note(int number, siginfo_t *info, void *) {
  int64_t now = clockOfWishes();
  // Of a terminal's signals the code is that of the kernel.
  bool isOfStarter = info->si_code <= 0 && info->si_pid == starter;
  std::sig_atomic_t count = wishes[isOfStarter] + 1;
  wishes[isOfStarter] = count;
  if (noted == 0) {
    notedAt = now;
    noted = number;
  } else if (count > 1 && now - notedAt > nanosecondsOfOneWish) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

Interrupt::Interrupt() : Interrupt(monotonicNanoseconds) {}

Interrupt::Interrupt(Clock clock) {
  clockOfWishes = clock;
  noted = 0;
  wishes[0] = 0;
  wishes[1] = 0;
  starter = ::getppid();
  struct sigaction action = {};
  action.sa_sigaction = note;
  // All change the same variables.
  for (int number : stopSignals) {
    sigaddset(&action.sa_mask, number);
  }
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  for (int number : stopSignals) {
    struct sigaction present = {};
    if (::sigaction(number, nullptr, &present) == 0 &&
        present.sa_handler == SIG_DFL) {
      ::sigaction(number, &action, nullptr);
    }
  }
}

void Interrupt::release() {
  for (int number : stopSignals) {
    struct sigaction present = {};
    if (::sigaction(number, nullptr, &present) == 0 &&
        (present.sa_flags & SA_SIGINFO) && present.sa_sigaction == note) {
      ::signal(number, SIG_DFL);
    }
  }
}

int Interrupt::signal() const { return noted; }

const char *gpt2::nameOfStop(int signal) {
  return signal == SIGTERM ? "SIGTERM" : signal == SIGINT ? "SIGINT" : "SIGHUP";
}
