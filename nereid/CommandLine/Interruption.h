//===- Interruption.h - Ctrl-C, where partial results count --- -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_COMMANDLINE_INTERRUPTION_H
#define NEREID_COMMANDLINE_INTERRUPTION_H

#include <atomic>

namespace nereid {

/// While it lives, SIGINT and SIGTERM are only noted, so that a command can end
/// its work and write what it has. A signal that the process ignores stays
/// ignored. One at a time; not thread-safe.
class Interruption {
public:
  enum class Of {
    /// The first is noted, and calls of the system go on; the second ends the
    /// process as ever.
    First,
    /// All are noted, and end calls of the system that wait (EINTR): of a
    /// process that waits for another, which it ends itself.
    All
  };
  explicit Interruption(Of which = Of::First);
  ~Interruption();
  Interruption(const Interruption &) = delete;
  Interruption &operator=(const Interruption &) = delete;

  /// The last one's number; 0: none came.
  static int signal() { return noted(); }
  static const std::atomic<int> &noted();
  /// As a shell shows it: 130 for Ctrl-C.
  static int status() { return 128 + signal(); }
};

} // namespace nereid

#endif // NEREID_COMMANDLINE_INTERRUPTION_H
