//===- CopyEngine.h - Copies of boxes on their way --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.9.27, cp.async.bulk. A copy to shared memory lands as late as it
// may: when no warp can go on without it. One from shared memory reads when
// its thread waits for its group, and writes when a wait without `.read` says
// so, or when the block ends.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_COPYENGINE_H
#define NEREID_SIM_COPYENGINE_H

#include "nereid/Sim/TensorMap.h"
#include "nereid/Sim/Timing.h"

#include <array>
#include <deque>
#include <random>

namespace nereid::sim {

class Block;
class Warp;

class CopyEngine {
public:
  explicit CopyEngine(Block &block) : block(block) {}

  void begin();

  // Of one thread. Each throws Fault.
  void load(Warp &warp, unsigned lane, std::vector<CopyRun> runs,
            uint32_t barrier);
  void store(Warp &warp, unsigned lane, std::vector<CopyRun> runs);
  void commit(Warp &warp, unsigned lane);
  /// All groups but the `youngest`; `onlyReads`: until they have read.
  void wait(Warp &warp, unsigned lane, uint64_t youngest, bool onlyReads);

  /// Lands one copy to shared memory, by chance if there is `random`; false
  /// without any.
  bool landOne(std::mt19937_64 *random);
  /// One of this barrier, which a thread asks for again and again.
  void landFor(uint32_t barrier);
  /// The block ends: what is left is written, or is a fault.
  void finish();

private:
  struct Copy {
    unsigned warp, lane;
    uint32_t instruction;
    std::vector<CopyRun> runs;
    uint32_t barrier = 0, group = 0;
    uint32_t shadow = 0; ///< SharedShadow's number
    Cycles time = {};
    // Of a store:
    bool hasRead = false, isWaitedFor = false;
    std::vector<unsigned char> data = {};
  };
  void check(Warp &warp, unsigned lane, const Copy &copy, bool writes);
  void land(const Copy &copy);
  void readShared(Copy &copy);
  void writeGlobal(const Copy &copy);
  [[noreturn]] void reportUnfinished(const Copy &copy, const char *what) const;

  Block &block;
  std::deque<Copy> loads, stores;
  /// Groups that a thread has closed, by warp.
  std::vector<std::array<uint32_t, 32>> groups;
};

} // namespace nereid::sim

#endif // NEREID_SIM_COPYENGINE_H
