//===- AccessLog.h - Which program touched which address --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds what makes a kernel's result depend on luck: an access outside of the
// launch's arrays, two programs that meet at an address other than by atomics,
// one block that stores twice to one. Element by element, by first address:
// accesses of different widths that overlap are not seen as meeting.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_ACCESSLOG_H
#define NEREID_INTERP_ACCESSLOG_H

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace nereid::interp {

/// Memory that a kernel may touch: [begin, end).
struct Array {
  uint64_t begin = 0, end = 0;
  bool isWritable = false;
};

class AccessLog {
public:
  enum class Kind {
    Read,
    Write,
    Update,     ///< atomic, its old value unused
    UpdateRead, ///< atomic, its old value used: the order shows
  };

  /// Without arrays every access is legal and nothing is logged.
  std::vector<Array> arrays;

  /// A new operation begins: its elements are one access each.
  void beginOperation() { ++operation; }
  enum class Outcome {
    Alone,
    Outside,     ///< of the arrays: it must not be made
    MeetsItself, ///< the order of one operation's elements shows
    MeetsOthers, ///< the order of programs shows
  };
  /// One element.
  Outcome access(Kind kind, int64_t program, uint64_t address, unsigned bytes);
  /// Is [address, address + bytes) in one of the arrays?
  bool contains(uint64_t address, unsigned bytes) const;

  /// What is known of the element at an address.
  struct Use {
    bool isWritten = false;
    /// Stored before anything read it, by one program.
    bool isWrittenFirst = false;
  };
  Use useOf(uint64_t address, unsigned bytes) const;

private:
  const Array *find(uint64_t address, unsigned bytes) const;

  /// Programs that accessed an address: none, one, or several.
  static constexpr int64_t none = -1, several = -2;
  struct Record {
    int64_t reader = none, writer = none, updater = none, orderedUpdater = none;
    uint64_t lastWrite = 0; ///< operation
    uint32_t bytes = 0;     ///< of the first access; 0: they differ
    bool beginsWithWrite = false, isMet = false;
  };
  static void join(int64_t &who, int64_t program) {
    who = who == none || who == program ? program : several;
  }
  static bool byOthers(int64_t who, int64_t program) {
    return who != none && who != program;
  }

  llvm::DenseMap<uint64_t, Record> records; ///< of writable arrays
  uint64_t operation = 0;
};

} // namespace nereid::interp

#endif // NEREID_INTERP_ACCESSLOG_H
