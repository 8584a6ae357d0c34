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
#include "nereid/Sim/SharedShadow.h"
#include "nereid/Sim/Timing.h"

#include <deque>
#include <memory>
#include <optional>

namespace nereid::sim {

class Block;

/// Thrown by an instruction; a launch ends with it.
struct Fault {
  enum class Kind {
    IllegalAddress,
    Misaligned,
    Illegal,
    Barrier, ///< in memory, that is not used as it has to be
    Trap,
    Deadlock,
    Race
  };
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
  SharedShadow::View since; ///< what its warp knew; without a check, empty
};

class Warp {
public:
  Warp(Block &block, unsigned index);

  /// For the block in which it is now.
  void begin();
  /// Fills the file's vector `index` of a special register again.
  void readSpecial(uint32_t index);
  /// Runs until it ends, waits for other warps, or has run so many
  /// instructions. False: none.
  bool run(unsigned most);

  bool hasEnded() const { return groups.empty(); }
  /// All lanes that have not ended wait at the same barrier.
  bool isAtBarrier() const { return atBarrier; }
  void leaveBarrier();
  /// Suspends the instruction that executes: it has to wait for what others do
  /// to the barrier at this address, and then runs again.
  void suspend(uint32_t barrier) { suspendedOn = barrier; }
  /// What each of its groups waits for, a line each.
  std::string places() const;

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
  uint32_t registers = 0; ///< of a thread, by setmaxnreg; 0: not known
  /// The setmaxnreg that it has run.
  std::vector<uint32_t> registerChanges;

private:
  struct Group {
    uint32_t at, mask;
    bool waits = false;                  ///< for lanes
    std::optional<uint32_t> sleeps = {}; ///< for a barrier in memory
  };
  bool step(size_t which);
  /// The instruction of a group, which may be suspended.
  bool finish(Group &group, const Instruction &instruction);
  /// The group's instruction; false where it has to wait for other lanes.
  bool execute(size_t which);
  size_t furthestBehind() const;
  void branch(size_t which, const Instruction &instruction, uint32_t taken);
  void merge();
  bool areTogether(const Group &group, const Instruction &instruction) const;
  [[noreturn]] void reportDeadlock() const;
  void forget();

  std::vector<LaneVector> file;
  std::vector<Group> groups;
  bool atBarrier = false;
  std::optional<uint32_t> suspendedOn;
};

/// Instead of a barrier's address: registers that others are to give back.
inline constexpr uint32_t waitsForRegisters = noIndex;

} // namespace nereid::sim

#endif // NEREID_SIM_WARP_H
