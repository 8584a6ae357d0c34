//===- Timing.h - How long a warp waits for its own results -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cycles that a warp needs where nothing else runs on the machine: an
// instruction starts when its operands are there. Within straight code those
// that wait do not hold up the others, since the assembler puts loads in front;
// at a branch or barrier all have started. What many warps wait for together,
// because memory or a unit is busy, is not seen here.
//
// Latencies are those that were measured on an H100: Luo et al., "Benchmarking
// and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking"
// (2024).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_TIMING_H
#define NEREID_SIM_TIMING_H

#include "nereid/Sim/Program.h"

#include <deque>

namespace nereid::sim {

/// Twice: where all that a block reads for the first time comes from memory,
/// and where it is in the second-level cache.
using Cycles = std::array<uint64_t, 2>;

struct Timing {
  enum class Kind : uint8_t {
    Plain,
    Load, ///< of global memory
    Copy, ///< cp.async
    CommitCopies,
    WaitCopies,
    Product, ///< wgmma
    CommitProducts,
    WaitProducts,
  };
  Kind kind = Kind::Plain;
  uint16_t cycles = 0; ///< until the result is there; of a Load from L1
  /// The multiplications of a warp's matrix instruction; a quarter of what four
  /// warps do together.
  uint32_t multiplications = 0;
};

/// By instruction.
std::vector<Timing> timingsOf(const Program &program);

/// What an instruction did to memory.
struct AccessSeen {
  bool isNew = false;  ///< global, and the block had not read it before
  uint64_t passes = 0; ///< through shared memory
};

/// The clock of one warp, since its block began.
class WarpClock {
public:
  /// `groups`: of four warps in a block, which share the tensor cores.
  WarpClock(size_t vectors, size_t predicates, size_t groups)
      : vectorReady(vectors), predicateReady(predicates), groups(groups) {}
  void begin();
  void step(const Instruction &instruction, const Timing &timing,
            const AccessSeen &access);
  const Cycles &now() const { return base; }
  /// The end of a copy of the engine that starts now.
  Cycles copyEnd() const;
  /// After a barrier: no earlier than the last warp that came.
  void waitUntil(const Cycles &time);

private:
  std::vector<Cycles> vectorReady, predicateReady;
  const size_t groups;
  Cycles base = {};   ///< of what comes next
  Cycles latest = {}; ///< start of an instruction since the last branch
  Cycles copied = {}, multiplied = {};
  std::deque<Cycles> copyGroups, productGroups;
};

} // namespace nereid::sim

#endif // NEREID_SIM_TIMING_H
