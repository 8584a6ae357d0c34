//===- Interrupt.h - Runs that are asked to stop ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_INTERRUPT_H
#define NEREID_APPS_GPT2_TRAIN_INTERRUPT_H

#include <array>
#include <csignal>
#include <cstdint>

namespace nereid::gpt2 {

/// Signals that ask a run to stop, the most urgent one first: of a scheduler,
/// of the keyboard, of a terminal that has gone.
inline constexpr std::array stopSignals = {SIGTERM, SIGINT, SIGHUP};

/// "SIGTERM".
const char *nameOfStop(int signal);

/// Within this time two signals are one wish, which comes from the terminal and
/// from what passes it on.
inline constexpr int64_t nanosecondsOfOneWish = 1'000'000'000;

/// From its first object on, `stopSignals` are noted; the second one ends the
/// process, if it comes more than `nanosecondsOfOneWish` after the first. What
/// has started this process may pass a wish on later than that: what the
/// starter sends is counted apart. Signals that were ignored stay so.
///
/// The end of an object changes nothing: a run that is done is done, and the
/// process, which is about to end, does so with its own status.
class Interrupt {
public:
  /// Nanoseconds since any moment; called by the handler.
  using Clock = int64_t (*)();

  Interrupt();
  explicit Interrupt(Clock clock);
  Interrupt(const Interrupt &) = delete;

  /// The one that came since this object was made; 0 for none.
  int signal() const;

  /// Signals end the process again.
  static void release();
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_INTERRUPT_H
