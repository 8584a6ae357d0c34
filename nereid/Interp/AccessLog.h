//===- AccessLog.h - Who touched which address ------------------*- C++ -*-===//
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

#include <cstdint>
#include <unordered_map>
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
  /// One element. False if the access is outside of the arrays (it must not be
  /// made) or makes the result depend on an order.
  bool access(Kind kind, int64_t program, uint64_t address, unsigned bytes);
  /// Is [address, address + bytes) in one of the arrays?
  bool contains(uint64_t address, unsigned bytes) const;

private:
  const Array *find(uint64_t address, unsigned bytes) const;

  /// Programs that accessed an address: none, one, or several.
  static constexpr int64_t none = -1, several = -2;
  struct Record {
    int64_t reader = none, writer = none, updater = none, orderedUpdater = none;
    uint64_t lastWrite = 0; ///< operation
  };
  static void join(int64_t &who, int64_t program) {
    who = who == none || who == program ? program : several;
  }
  static bool byOthers(int64_t who, int64_t program) {
    return who != none && who != program;
  }

  std::unordered_map<uint64_t, Record> records; ///< of writable arrays
  uint64_t operation = 0;
};

} // namespace nereid::interp

#endif // NEREID_INTERP_ACCESSLOG_H
