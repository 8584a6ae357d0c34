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

namespace nereid::gpt2 {

/// Signals that ask a run to stop, the most urgent one first: of a scheduler,
/// of the keyboard, of a terminal that has gone.
inline constexpr std::array stopSignals = {SIGTERM, SIGINT, SIGHUP};

/// "SIGTERM".
const char *nameOfStop(int signal);

/// From its first object on, `stopSignals` are noted; the second one ends the
/// process, if it comes more than a second after the first. One wish may come
/// twice, from the terminal and from what has started this process: what the
/// starter sends is counted apart. Signals that were ignored stay so.
///
/// The end of an object changes nothing: a run that is done is done, and the
/// process, which is about to end, does so with its own status.
class Interrupt {
public:
  Interrupt();
  Interrupt(const Interrupt &) = delete;

  /// The one that came since this object was made; 0 for none.
  int signal() const;

  /// Signals end the process again.
  static void release();
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_INTERRUPT_H
