//===- CacheTally.h - How full a cache's folder is --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file in the folder, so that no process has to look at every other one: a
// full cache has a hundred thousand. Layout (little endian):
//
//   0   8   bytes of the entries when they were last counted
//   8   8   when that was, in seconds since 1970
//   16  n   a byte for each 256, rounded up, that an entry stored since has
//
// A store appends to it, which is one call of the system and needs no lock. An
// entry that replaces another one counts twice. What is appended while another
// process counts may be lost: the cap is overrun by so much until entries are
// counted again, which is once a day at least.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CACHE_CACHETALLY_H
#define NEREID_RUNTIME_CACHE_CACHETALLY_H

#include <cstdint>
#include <optional>
#include <string>

namespace nereid {

class CacheTally {
public:
  /// Its name in the folder.
  static constexpr const char *name = "tally";

  explicit CacheTally(const std::string &folder) : path(folder + "/" + name) {}

  /// Bytes that the entries have at most; nothing where they are to be
  /// counted.
  std::optional<uint64_t> total() const;
  /// An entry of so many bytes was stored.
  void add(uint64_t bytes) const;
  /// The entries were counted.
  void reset(uint64_t bytes) const;

private:
  std::string path;
};

} // namespace nereid

#endif // NEREID_RUNTIME_CACHE_CACHETALLY_H
