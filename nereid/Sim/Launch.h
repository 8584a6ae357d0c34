//===- Launch.h - Running a kernel without a GPU ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_LAUNCH_H
#define NEREID_SIM_LAUNCH_H

#include "nereid/Sim/Profile.h"

#include <functional>
#include <map>
#include <shared_mutex>

namespace nereid::sim {

/// What a device has handed out: kernels may touch nothing else. Thread-safe.
class Allocations {
public:
  void add(uint64_t address, uint64_t bytes);
  /// False if nothing begins there.
  bool remove(uint64_t address);
  /// The allocation that holds the address; empty without.
  MemoryRange find(uint64_t address) const;
  uint64_t totalBytes() const;
  /// In order of their addresses.
  std::vector<MemoryRange> ranges() const;

private:
  mutable std::shared_mutex mutex;
  std::map<uint64_t, uint64_t> ends; ///< by their beginnings
};

/// When asynchronous copies and products happen: a GPU may do them at any time
/// between their start and the wait for them.
enum class AsyncOrder : uint8_t { Late, Early };

/// Which blocks of a grid run, and how long.
struct GridSample {
  /// Not 0: at most so many blocks, spread over the grid; of blocks that take
  /// the simulator long fewer, but 16. What the others would have written is
  /// missing.
  uint64_t mostBlocks = 0;
  /// All of them all the same where the grid takes the simulator no more than
  /// so many instructions of warps, or a quarter where it has more than eight
  /// times as many blocks.
  uint64_t wholeCost = 0;
  /// Asked again and again while blocks run, from several threads, with how
  /// many of how many have ended. False: no more of them; the profile is of
  /// those that have ended.
  std::function<bool(uint64_t ended, uint64_t all)> goesOn = nullptr;
};

/// The `i`-th of `count` blocks that run of a grid: any of its share of the
/// grid. At even distances they might all be of one column of a matrix.
std::array<uint32_t, 3> sampledPlace(const std::array<uint32_t, 3> &grid,
                                     uint64_t count, uint64_t i);
/// Its number for Touched: of each pair of blocks one is even, by chance for
/// the same reason.
uint64_t sampledNumber(uint64_t i);
/// How many of `all` blocks run: so many that it takes some seconds.
/// `costOfBlock`, instructions of warps, is asked only where that depends on
/// it.
uint64_t sampleSize(const GridSample &sample, uint64_t all,
                    const std::function<uint64_t()> &costOfBlock);

struct LaunchRequest {
  const Program &program;
  const Allocations &memory;
  std::array<uint32_t, 3> grid, threads;
  uint32_t sharedBytes = 0;
  std::vector<unsigned char> parameters = {}; ///< as Program::parameters lie
  AsyncOrder asyncOrder = AsyncOrder::Late;
  bool checksRaces = false;
  uint64_t seed = 0;    ///< the order of warps
  unsigned workers = 1; ///< threads of the host, each with a block at a time
  /// Blocks wait for each other: all get on, in turns, on one thread.
  bool isCooperative = false;
  /// Null, or what is filled in.
  Profile *profile = nullptr;
  GridSample sample = {};
};

/// Every block of the grid, in order of their numbers, `workers` at a time.
/// KernelFault says which thread and instruction did what, or that
/// threads wait for each other forever.
Status launch(const LaunchRequest &request);

} // namespace nereid::sim

#endif // NEREID_SIM_LAUNCH_H
