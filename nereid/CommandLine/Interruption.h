//===- Interruption.h - Ctrl-C, where partial results count --- -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_COMMANDLINE_INTERRUPTION_H
#define NEREID_COMMANDLINE_INTERRUPTION_H

namespace nereid {

/// While it lives, the first SIGINT or SIGTERM is only noted, so that a command
/// can end its work and write what it has; the second ends the process as ever.
/// A signal that the process ignores stays ignored.
class Interruption {
public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption &) = delete;
  Interruption &operator=(const Interruption &) = delete;

  /// 0: none came.
  static int signal();
  /// As a shell shows it: 130 for Ctrl-C.
  static int status() { return 128 + signal(); }
};

} // namespace nereid

#endif // NEREID_COMMANDLINE_INTERRUPTION_H
