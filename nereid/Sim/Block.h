//===- Block.h - A block of threads, and its memory -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_BLOCK_H
#define NEREID_SIM_BLOCK_H

#include "nereid/Sim/CopyEngine.h"
#include "nereid/Sim/Launch.h"
#include "nereid/Sim/MemoryBarriers.h"
#include "nereid/Sim/SharedShadow.h"
#include "nereid/Sim/Warp.h"

#include <random>
#include <unordered_set>

namespace nereid::sim {

enum class Access : uint8_t { Read, Write, Atomic };

/// "0x1f0"
std::string hexadecimal(uint64_t value);

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
                         uint32_t bytes, Space space, Access access) {
    bool isNear = space == Space::Global && !(address & (bytes - 1)) &&
                  recent.contains(address, bytes);
    return isNear ? reinterpret_cast<unsigned char *>(address)
                  : resolveAny(warp, lane, address, bytes, space, access);
  }
  /// The same for what four warps or a copy read and write by themselves:
  /// without alignment, and not looked at for races.
  unsigned char *sharedBytes(uint64_t address, uint32_t bytes) const;
  /// Whether so many bytes of global memory are there.
  bool isGlobal(uint64_t address, uint64_t bytes);
  /// The address in shared memory of a generic one, or of one in its own
  /// space. Throws Fault for another space.
  uint32_t sharedAddress(Warp &warp, unsigned lane, uint64_t address) const;
  [[noreturn]] void fault(const Warp &warp, Fault::Kind kind,
                          const std::string &what) const;
  [[noreturn]] void fault(const Warp &warp, unsigned lane, Fault::Kind kind,
                          const std::string &what) const;

  /// At a barrier of `threads` threads, without waiting.
  void arriveAt(unsigned barrier, uint32_t threads, const Warp &warp);
  /// Throws Fault where four warps change their registers in different places.
  void checkWarpgroup(const Warp &warp) const;
  /// Takes them for a thread of the warp; false while others have not put
  /// enough back.
  bool takeRegisters(Warp &warp, uint32_t wanted);

  uint64_t valueOf(Special special, unsigned warp, unsigned lane) const;

  const LaunchRequest &launch;
  std::array<uint32_t, 3> position = {};
  std::unique_ptr<SharedShadow> shadow; ///< null without a check for races
  MemoryBarriers barriers{*this};
  CopyEngine engine{*this};
  uint64_t instructions = 0;
  /// Instructions that a warp runs before another has its turn: few enough that
  /// warps which wait for each other through memory get on.
  unsigned turn = 4096;
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
  bool passBarriers();
  bool passBarrier(unsigned id);
  [[noreturn]] void reportDeadlock() const;
  /// All warps have ended.
  void finish();

  const unsigned worker;
  std::vector<unsigned char> shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<unsigned> order; ///< in which warps run
  std::mt19937_64 random;
  /// With a profile: sectors of global memory that the block has read.
  std::unordered_set<uint64_t> readSectors;
  unsigned char *resolveAny(Warp &warp, unsigned lane, uint64_t address,
                            uint32_t bytes, Space space, Access access);

  MemoryRange recent; ///< the allocation of the last access
  uint32_t freeRegisters = 0;
  struct Arrived { ///< at a named barrier, without waiting
    uint32_t threads = 0, wanted = 0;
  };
  std::array<Arrived, 16> arrived = {};
};

} // namespace nereid::sim

#endif // NEREID_SIM_BLOCK_H
