//===- Profile.h - What instructions did to memory --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counted as the hardware's counters do:
//
//   sector     32 bytes of global memory; a request of a warp moves whole ones
//              (ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum)
//   wavefront  one pass through shared memory: of each of 32 banks one word of
//              4 bytes (l1tex__data_pipe_lsu_wavefronts_mem_shared.sum). An
//              access of 8 or 16 bytes a lane takes 2 or 4 at least.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_PROFILE_H
#define NEREID_SIM_PROFILE_H

#include "nereid/Sim/Program.h"
#include "nereid/Sim/ReadPlaces.h"
#include "nereid/Sim/Timing.h"

#include <atomic>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace nereid::sim {

/// The counts of one instruction.
struct Counts {
  uint64_t executed = 0; ///< by warps
  uint64_t lanes = 0;    ///< active ones, over all executions
  // Of accesses.
  uint64_t requests = 0, sharedRequests = 0; ///< of at least one lane
  uint64_t bytes = 0;                        ///< of all lanes
  uint64_t sectors = 0;                      ///< global
  uint64_t missed = 0;                       ///< not in the nearest cache
  uint64_t readsMissed = 0;                  ///< those of reads
  uint64_t lines = 0;                        ///< of 128 bytes, each looked up
  /// Turns of the second-level cache for what is missed: two sectors of a line
  /// each; and those for sectors that a request has in part.
  uint64_t turns = 0, partialTurns = 0;
  uint64_t wavefronts = 0;                        ///< shared
  uint64_t leastSectors = 0, leastWavefronts = 0; ///< for as many bytes
  uint64_t firstAddress = 0;                      ///< a global one; 0: none
  /// For global accesses: bit i is set where one began i bytes past a multiple
  /// of 16.
  uint16_t remainders = 0;
  /// The stride of the first request: from one active lane to the next; 0: one
  /// lane.
  int64_t laneStride = 0;

  void add(const Counts &other);
};

/// Which of the blocks that ran.
enum class Sample { All, EverySecond };

/// Bits, few of them set: a page is made with its first one. From any thread.
class SparseBits {
public:
  static constexpr size_t pageWords = 512; ///< even: pieces have two at most
  using Page = std::array<std::atomic<uint64_t>, pageWords>;

  explicit SparseBits(uint64_t bits);
  ~SparseBits();
  SparseBits(const SparseBits &) = delete;
  /// Sets the bits of `mask` in the word.
  void set(uint64_t word, uint64_t mask);
  size_t pageCount() const { return pages.size(); }
  /// Null: no bit is set.
  const Page *page(size_t i) const {
    return pages[i].load(std::memory_order_acquire);
  }

private:
  std::vector<std::atomic<Page *>> pages;
};

/// The bytes of an allocation that were read and written, each counted once.
class Touched {
public:
  Touched(uint64_t begin, uint64_t bytes);
  /// By the `number`-th of the blocks that run.
  void read(uint64_t address, uint64_t bytes, uint64_t number) {
    mark(readBits[number % 2], address, bytes);
  }
  void write(uint64_t address, uint64_t bytes, uint64_t number) {
    mark(writeBits[number % 2], address, bytes);
  }
  uint64_t bytesRead(Sample of = Sample::All) const {
    return count(readBits, of);
  }
  uint64_t bytesWritten(Sample of = Sample::All) const {
    return count(writeBits, of);
  }
  /// In whole pieces of `piece` bytes, a power of two, at most 128.
  uint64_t bytesReadBy(uint64_t piece, Sample of = Sample::All) const {
    return countPieces(readBits, piece, of);
  }
  uint64_t bytesWrittenBy(uint64_t piece, Sample of = Sample::All) const {
    return countPieces(writeBits, piece, of);
  }

  const uint64_t begin, end;

private:
  using Halves = std::array<SparseBits, 2>; ///< of even and odd blocks
  void mark(SparseBits &bits, uint64_t address, uint64_t bytes);
  uint64_t count(const Halves &halves, Sample of) const;
  uint64_t countPieces(const Halves &halves, uint64_t piece, Sample of) const;

  /// Bytes of a bit: 1, or more for what is large.
  const uint64_t granule;
  Halves readBits, writeBits;
};

/// Bytes of memory that a grid touches, each counted once; `moved`: what is
/// read in whole fetches, what is written in whole sectors.
struct Traffic {
  double read = 0, written = 0, movedRead = 0, movedWritten = 0;
  double linesRead = 0; ///< the lines of 128 bytes that it reads of
};

/// The memory that a launch touches, of the blocks that ran.
class TouchedMemory {
public:
  Touched *touchedAt(uint64_t address);
  /// Exact where all blocks ran. Memory is read `fetchBytes` at a time. No more
  /// is touched of an allocation than the arrays that are known in it have.
  Traffic traffic(uint64_t fetchBytes = 32,
                  std::span<const MemoryRange> arrays = {}) const;
  /// What the whole grid touches, from what the blocks that ran and what every
  /// second of them touched.
  double ofGrid(uint64_t all, uint64_t everySecond) const;

  uint64_t blocks = 0;     ///< that ran
  uint64_t gridBlocks = 0; ///< of the launch
  std::vector<std::unique_ptr<Touched>> touched;

protected:
  void begin(std::span<const MemoryRange> allocations);
};

/// The profile of a launch. Blocks add to it from several threads.
class Profile : public TouchedMemory {
public:
  /// Threads of the host add up apart, and `merge` into `counts`.
  void begin(const Program &program, std::vector<MemoryRange> allocations);
  void merge(std::span<const Counts> of, uint64_t blocks, const Cycles &cycles);
  void mergeTurns(const std::unordered_map<uint64_t, uint64_t> &of);
  /// The turns of the sector where atomics of the whole grid take most; 0 where
  /// no sector is seen often.
  double mostAtomicTurns() const;

  std::vector<Counts> counts;  ///< by instruction
  std::vector<Timing> timings; ///< the same
  /// By sector: turns that atomics took there. One warp's lanes at the same
  /// word take one each, at different words of a sector one together.
  std::unordered_map<uint64_t, uint64_t> atomicTurns;
  Cycles cycles = {}; ///< of the blocks that ran, in sum
  ReadPlaces places;  ///< of a launch with a GridSample
};

/// What lanes of a warp access together: where each begins.
struct WarpAccess {
  uint32_t mask;
  std::array<uint64_t, lanes> addresses;
  uint32_t bytes; ///< of a lane
};

/// Adds one request. Returns how many sectors are not among `cached`, which
/// then has them; all of them for null.
uint64_t countGlobal(Counts &counts, const WarpAccess &access,
                     std::unordered_set<uint64_t> *cached);
void countShared(Counts &counts, const WarpAccess &access);
/// Adds the turns of one request of atomics.
void countTurns(std::unordered_map<uint64_t, uint64_t> &turns,
                const WarpAccess &access);

} // namespace nereid::sim

#endif // NEREID_SIM_PROFILE_H
