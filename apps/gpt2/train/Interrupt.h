//===- Interrupt.h - Runs that are asked to stop ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_INTERRUPT_H
#define NEREID_APPS_GPT2_TRAIN_INTERRUPT_H

namespace nereid::gpt2 {

/// While it lives, SIGINT and SIGTERM are noted; the second one ends the
/// process, if it comes more than a second after the first. Signals that were
/// ignored stay so.
class Interrupt {
public:
  Interrupt();
  Interrupt(const Interrupt &) = delete;
  ~Interrupt();

  /// The one that came; 0 for none.
  int signal() const;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_INTERRUPT_H
