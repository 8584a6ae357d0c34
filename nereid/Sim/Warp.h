//===- Warp.h - 32 threads --------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that are at one instruction form a group. The group that is furthest
// behind runs first, so that groups meet where the code of branches meets; an
// instruction that lanes execute together waits for those it names, and others
// go on. Any order is legal for a GPU (independent thread scheduling).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_WARP_H
#define NEREID_SIM_WARP_H

#include "nereid/Sim/Program.h"
#include "nereid/Sim/Timing.h"

#include <deque>
#include <memory>

namespace nereid::sim {

class Block;

/// Thrown by an instruction; a launch ends with it.
struct Fault {
  enum class Kind { IllegalAddress, Misaligned, Illegal, Trap, Deadlock, Race };
  Kind kind;
  std::string message;
};

/// A copy of one thread on its way to shared memory.
struct PendingCopy {
  unsigned lane;
  uint32_t group; ///< of the lane
  uint32_t to;
  uint64_t from;
  uint32_t bytes, readBytes; ///< the rest is zeros
};

/// A warp's part of a product of four warps, on its way.
struct PendingProduct {
  uint32_t instruction;
  uint32_t group;
  uint64_t leftDescriptor, rightDescriptor;
  bool adds;
};

class Warp {
public:
  Warp(Block &block, unsigned index);

  /// For the block in which it is now.
  void begin();
  /// Fills the file's vector `index` of a special register anew.
  void readSpecial(uint32_t index);
  /// Runs until it ends, waits for other warps, or has run so many
  /// instructions.
  void run(unsigned most);

  bool hasEnded() const { return groups.empty(); }
  /// All lanes that have not ended wait at the same barrier.
  bool isAtBarrier() const { return atBarrier; }
  void leaveBarrier();

  LaneVector &at(uint32_t index) { return file[index]; }
  /// Throws Fault where a lane does not take part.
  void needAllLanes() const;

  Block &block;
  const Program &program;
  const unsigned index;
  uint32_t active = 0;              ///< lanes for which an instruction executes
  uint32_t current = 0;             ///< the instruction
  std::vector<uint32_t> predicates; ///< a mask of lanes each
  uint32_t living = 0;
  std::unique_ptr<unsigned char[]> local; ///< lane by lane
  unsigned barrierId = 0;
  uint32_t barrierThreads = 0; ///< 0 for all

  std::deque<PendingCopy> copies;
  std::array<uint32_t, lanes> copyGroups = {};
  std::deque<PendingProduct> products;
  uint32_t productGroup = 0;
  /// Null without a profile.
  std::unique_ptr<WarpClock> clock;
  /// Accesses of the block so far, when it last fenced for the async proxy.
  uint64_t proxyFence = 0;

private:
  struct Group {
    uint32_t at, mask;
    bool waits = false;
  };
  void step(size_t which);
  /// The group's instruction; false where it has to wait for other lanes.
  bool execute(size_t which);
  size_t furthestBehind() const;
  void branch(size_t which, const Instruction &instruction, uint32_t taken);
  void merge();
  bool areTogether(const Group &group, const Instruction &instruction) const;
  [[noreturn]] void tellDeadlock() const;

  std::vector<LaneVector> file;
  std::vector<Group> groups;
  bool atBarrier = false;
};

} // namespace nereid::sim

#endif // NEREID_SIM_WARP_H
