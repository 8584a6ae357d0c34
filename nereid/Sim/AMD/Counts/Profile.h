//===- Profile.h - What instructions did to memory --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request is an instruction of a wave with one active lane at least. To
// global memory it moves whole pieces: of 128 bytes, a line of the caches, or
// of 64, half of one. LDS serves a word of 4 bytes of each bank in a pass, and
// lanes with the same word share it, but for atomics. So many consecutive lanes
// take part in a pass as may have a word of each bank; the rest is conflicts.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_COUNTS_PROFILE_H
#define NEREID_SIM_AMD_COUNTS_PROFILE_H

#include "nereid/Sim/AMD/Simulator.h"

namespace nereid::sim::amd {

/// The counts of one instruction.
struct Counts {
  uint64_t executed = 0; ///< by waves
  uint64_t lanes = 0;    ///< active ones, over all executions
  // Of accesses. Scalar loads and scratch memory are not counted.
  uint64_t requests = 0, sharedRequests = 0;
  uint64_t bytes = 0; ///< of all lanes
  uint64_t halfLines = 0, lines = 0;
  uint64_t leastHalfLines = 0, leastLines = 0; ///< for as many bytes
  uint64_t passes = 0, leastPasses = 0;        ///< through LDS
  uint64_t firstAddress = 0;                   ///< a global one; 0: none
  /// For global accesses: bit i is set where one began i bytes past a multiple
  /// of 16.
  uint16_t remainders = 0;
  /// The stride of the first request: from one active lane to the next; 0: one
  /// lane.
  int64_t laneStride = 0;

  void add(const Counts &other);
};

/// The profile of a launch. Workgroups add to it from several threads.
class Profile : public TouchedMemory {
public:
  void begin(const Program &program, std::span<const MemoryRange> allocations);
  void merge(std::span<const Counts> of);

  std::vector<Counts> counts; ///< by instruction
};

/// What an instruction of a wave touches, lane by lane, counted when it has
/// been executed. Of one workgroup at a time.
class AccessCounter {
public:
  AccessCounter(const Program &program, Profile &profile);
  /// Of the `number`-th of the workgroups that run.
  void begin(uint64_t number) { group = number; }
  void addGlobal(unsigned lane, uint64_t address, uint32_t bytes, bool reads,
                 bool writes);
  void addShared(unsigned lane, uint64_t address, uint32_t bytes, bool reads,
                 bool writes);
  /// All that `instruction` has touched; `active`: its lanes.
  void finish(uint32_t instruction, uint64_t active);

  std::vector<Counts> counts; ///< of this workgroup, by instruction

private:
  struct LaneAccess {
    unsigned lane;
    uint64_t address;
    uint32_t bytes;
  };
  void countGlobal(Counts &to);
  void countShared(Counts &to);
  /// Of lanes that take part in one pass if their banks allow it.
  unsigned passesOf(std::span<const LaneAccess> one) const;

  Profile &profile;
  const bool isCdna;
  const unsigned banks;
  uint64_t group = 0;
  std::vector<LaneAccess> global, shared;
  bool sharedReads = false, sharedIsAtomic = false;
};

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_COUNTS_PROFILE_H
