//===- MemoryBarriers.h - Barriers in shared memory -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.13.15, mbarrier. The 8 bytes are opaque: what a barrier knows
// lies here, and an access to them by anything else is a fault.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_MEMORYBARRIERS_H
#define NEREID_SIM_MEMORYBARRIERS_H

#include "nereid/Sim/SharedShadow.h"
#include "nereid/Sim/Timing.h"

#include <map>
#include <string>

namespace nereid::sim {

class Block;
class Warp;

class MemoryBarriers {
public:
  explicit MemoryBarriers(Block &block) : block(block) {}

  void begin() { barriers.clear(); }
  static constexpr unsigned pendingBits = 20;
  bool isEmpty() const { return barriers.empty(); }
  /// Is there a barrier that some of these bytes belong to?
  bool overlap(uint32_t at, uint32_t bytes) const;

  // One thread's instructions. Each throws Fault.
  void init(Warp &warp, unsigned lane, uint32_t at, uint32_t count);
  void inval(Warp &warp, unsigned lane, uint32_t at);
  /// Returns the state before: the phase, and in the lower `pendingBits` the
  /// arrivals that it lacked. `drops`: and no later phase waits for so many.
  uint64_t arrive(Warp &warp, unsigned lane, uint32_t at, uint32_t count,
                  bool releases, bool drops);
  /// Bytes that the phase waits for; less of them for a negative number.
  void expect(Warp &warp, unsigned lane, uint32_t at, int64_t bytes);
  /// Whether the phase of `parity`, or of a state, is complete. What came
  /// before it is known to the warp if `acquires`.
  bool isPast(Warp &warp, unsigned lane, uint32_t at, uint64_t phase,
              bool isParity, bool acquires);
  /// fence.mbarrier_init
  void fenceInit(unsigned warp);
  /// Checks a copy that starts: the engine has to see the barrier.
  void checkSeenByEngine(Warp &warp, unsigned lane, uint32_t at);
  /// So many bytes of a copy have landed.
  void land(uint32_t at, uint32_t bytes, const Cycles &time);

  /// "phase 3 lacks 1 of 2 arrivals and 512 bytes".
  std::string describe(uint32_t at) const;

private:
  struct Barrier {
    uint32_t count = 0, pending = 0;
    int64_t bytes = 0;
    uint64_t phase = 0;
    SharedShadow::Stamp made;
    bool isFenced = false; ///< by fence.mbarrier_init
    Cycles arrived = {}, completed = {};
  };
  Barrier &find(Warp &warp, unsigned lane, uint32_t at);
  void completeIfDone(uint32_t at, Barrier &barrier);

  Block &block;
  std::map<uint32_t, Barrier> barriers;
};

} // namespace nereid::sim

#endif // NEREID_SIM_MEMORYBARRIERS_H
