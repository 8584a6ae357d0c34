//===- ReadPlaces.h - Which blocks of a grid read the same ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sample of blocks says how much each reads, and not which of them read it
// together. Where an instruction of a block first reads says that: two
// blocks with the same place there read the same tile, row or table.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_READPLACES_H
#define NEREID_SIM_READPLACES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::sim {

struct LaunchRequest;
class Profile;

struct ReadPlaces {
  struct Reader {
    uint32_t instruction = 0;
    double bytes = 0; ///< that it reads in a block, each once
  };
  std::vector<Reader> readers;
  /// For each block of the grid, in order, an address for each reader; 0: it
  /// has not read. Empty: not known.
  std::vector<uint64_t> first;
  uint64_t blocks = 0;

  /// What blocks `begin` up to `end` read, bytes that several of them read
  /// counted once.
  double bytesOf(uint64_t begin, uint64_t end) const;
  /// The same of every `together` blocks, added up; once what a reader reads
  /// that begins at one place in all blocks, which is in use all the time.
  double bytesOfWaves(uint64_t together) const;

private:
  /// Of a reader, each counted once.
  uint64_t placesOf(size_t reader, uint64_t begin, uint64_t end) const;
};

/// After blocks of the launch have run with its profile: runs the beginning of
/// each block of the grid, with what that does to memory. Instructions that
/// read late in a block are no readers. Nothing is known of large grids, where
/// blocks wait for each other, and where they share nothing.
ReadPlaces findReadPlaces(const LaunchRequest &request);

} // namespace nereid::sim

#endif // NEREID_SIM_READPLACES_H
