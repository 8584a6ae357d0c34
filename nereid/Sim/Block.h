//===- Block.h - A block of threads, and its memory -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_BLOCK_H
#define NEREID_SIM_BLOCK_H

#include "nereid/Sim/Launch.h"
#include "nereid/Sim/SharedShadow.h"
#include "nereid/Sim/Warp.h"

#include <random>
#include <unordered_set>

namespace nereid::sim {

enum class Access : uint8_t { Read, Write, Atomic };

class Block {
public:
  Block(const LaunchRequest &launch, unsigned worker);
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  /// Becomes a block of the grid, the `number`-th of those that run.
  void begin(std::array<uint32_t, 3> position, uint64_t number);
  size_t warpCount() const {
    const auto &threads = launch.threads;
    return (threads[0] * threads[1] * threads[2] + lanes - 1) / lanes;
  }
  /// Every warp gets on by a turn; false when all have ended. Throws Fault.
  bool advance();

  /// Where `bytes` bytes of an access lie. Throws Fault for memory that the
  /// thread has not, and for an address that is no multiple of `bytes`.
  unsigned char *resolve(Warp &warp, unsigned lane, uint64_t address,
                         uint32_t bytes, Space space, Access access);
  /// The same for what four warps or a copy read and write by themselves:
  /// without alignment, and not looked at for races.
  unsigned char *sharedBytes(uint64_t address, uint32_t bytes) const;
  [[noreturn]] void fault(const Warp &warp, Fault::Kind kind,
                          const std::string &what) const;
  void fault(const Warp &warp, unsigned lane, Fault::Kind kind,
             const std::string &what) const;

  /// When each warp last fenced for the async proxy, by SharedShadow's clock.
  std::vector<uint64_t> proxyFences() const;

  uint64_t valueOf(Special special, unsigned warp, unsigned lane) const;

  const LaunchRequest &launch;
  std::array<uint32_t, 3> position = {};
  std::unique_ptr<SharedShadow> shadow; ///< null without a check for races
  uint64_t instructions = 0;
  /// By instruction, with a profile; else empty.
  std::vector<Counts> counts;
  std::unordered_map<uint64_t, uint64_t> atomicTurns; ///< the same
  uint64_t blocksRun = 0, number = 0;
  /// With a profile: of the instruction that runs, and of all blocks in sum.
  AccessSeen seen;
  Cycles cycles = {};
  /// The block has ended: adds its time.
  void addTime();
  void forgetCounts();
  /// One request of a warp, with a profile.
  void count(const Warp &warp, const WarpAccess &access, Space space,
             Access kind);

private:
  void passBarriers();
  bool passBarrier(unsigned id);

  const unsigned worker;
  std::vector<unsigned char> shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<unsigned> order; ///< in which warps run
  std::mt19937_64 random;
  /// With a profile: sectors of global memory that the block has read.
  std::unordered_set<uint64_t> readSectors;
  MemoryRange recent; ///< the allocation of the last access
};

} // namespace nereid::sim

#endif // NEREID_SIM_BLOCK_H
