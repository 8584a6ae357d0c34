//===- Report.h - What a launch costs, and why ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made from a launch on the simulator, which counts what every instruction does
// to memory, and from what the assembler or the code object says of registers.
// Needs no GPU.
// docs/Explain.md.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_REPORT_H
#define NEREID_EXPLAIN_REPORT_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Explain/Chip.h"
#include "nereid/Sim/AMD/Counts/Profile.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::explain {

/// What the assembler and the launch say; 0 registers: no assembler was there.
struct Resources {
  unsigned threads = 0; ///< of a block
  /// Spills as they stand in the code: what is stored, and what is loaded.
  unsigned registers = 0, spillBytes = 0, sharedBytes = 0;
  unsigned residentBlocks = 0; ///< that fit a multiprocessor
  unsigned warps = 0;          ///< of these
  unsigned mostWarps = 0;      ///< that one can hold
  std::string limit;           ///< what keeps it from more
  unsigned lanes = 32;         ///< of a warp

  // Of AMD's, where `registers` are a lane's vector registers and warps are
  // waves.
  unsigned accumulationRegisters = 0;          ///< among `registers`
  unsigned scalarRegisters = 0;                ///< of a wave
  unsigned vectorSpills = 0, scalarSpills = 0; ///< registers
  unsigned scratchBytes = 0;                   ///< of a lane

  unsigned warpsOfBlock() const { return (threads + lanes - 1) / lanes; }
};

/// An argument's memory.
struct Array {
  std::string name;
  uint64_t begin = 0, bytes = 0;
};

enum class AccessKind { Load, Store, Atomic, Copy, MatrixLoad, MatrixStore };
const char *name(AccessKind kind);

/// All accesses of a source line that do the same. Numbers are of the whole
/// grid, also where only some of its blocks ran.
struct AccessCost {
  AccessKind kind = AccessKind::Load;
  bool isShared = false; ///< else global
  std::string array;     ///< of a global one, where known
  std::string file;
  uint32_t line = 0;
  unsigned laneBytes = 0; ///< of a thread's instruction
  int64_t laneStride = 0; ///< bytes from one thread to the next, of a request
  double requests = 0;    ///< of warps, with one active thread at least
  /// How many of 32 take part, on average over all warps; for copies ahead,
  /// over those that copy something, since a loop's last turns copy nothing.
  double lanesActive = 0;
  double bytes = 0; ///< that threads asked for
  /// Global: sectors of 32 bytes, of AMD half lines of 64. Shared: passes.
  double units = 0, leastUnits = 0;
  /// Of AMD, global: lines of 128 bytes.
  double lines = 0, leastLines = 0;
  /// Global: bytes past a multiple of 16 at which the lowest of the first
  /// threads' accesses began; nothing where that differs from request to
  /// request by other than multiples of what a thread takes.
  std::optional<unsigned> remainder;
  /// Global: bytes past the beginning of a unit (sector, half line) of the
  /// lowest first address.
  unsigned insideUnit = 0;
  bool isOfData = false; ///< addresses that are computed from what was loaded

  double unitsPerRequest() const { return requests ? units / requests : 0; }
  double leastPerRequest() const {
    return requests ? leastUnits / requests : 0;
  }
  double excess() const { return leastUnits ? units / leastUnits : 1; }
};

struct LineCost {
  std::string file;
  uint32_t line = 0;
  double instructions = 0; ///< of warps: PTX, or AMD's machine code
};

/// What a launch may wait for: bytes of memory, the second-level cache, passes
/// through the multiprocessors' own memory, programs to be started, slots to
/// issue instructions, the units of floats, matrix instructions, atomics at one
/// place, and each warp for its own results.
enum class Bound {
  Memory,
  Cache,
  Passes,
  Starts,
  Compute,
  Floats,
  Products,
  Atomics,
  Latency
};
const char *name(Bound bound);

/// An instruction of the machine, in the order of the code.
struct MachineLine {
  std::string file;
  uint32_t line = 0; ///< 0: of none
  std::string text;
};

struct Hint {
  std::string file;
  uint32_t line = 0; ///< 0: of the kernel
  std::string text;
};

/// Of global accesses: a sector, or of AMD half a line.
inline unsigned unitBytesOf(const Chip &chip) { return chip.isAmd() ? 64 : 32; }

/// What is known of a kernel besides its code.
struct Subject {
  SourceLocation location; ///< of the function
  std::vector<Array> arrays;
  std::vector<ToldDecision> decisions;
  std::vector<int64_t> integers; ///< among the arguments
  std::string configuration;     ///< of @triton.autotune, and why this one
};

struct Report {
  std::string kernel, target;
  SourceLocation location;
  Chip chip{};
  std::array<uint32_t, 3> grid{};
  std::string configuration; ///< of Subject
  uint64_t blocks = 0, simulatedBlocks = 0;
  Resources resources;
  std::vector<AccessCost> accesses; ///< most units first, global in front
  std::vector<LineCost> lines;      ///< most instructions first
  /// Bytes of memory that the launch has to read and write: each that it
  /// touches counted once.
  double compulsoryRead = 0, compulsoryWritten = 0;
  /// What memory moves: read in whole fetches of the chip, written in whole
  /// sectors.
  double movedRead = 0, movedWritten = 0;
  /// Among what is read: what programs that run later read again, since it has
  /// left the second-level cache.
  double movedAgain = 0;
  /// Bytes of the other halves, where memory reads one half of a line.
  double halvesLeftOut = 0;
  /// Whole sectors (half lines of AMD) that warps asked for; caches answer what
  /// was there before.
  double requestedRead = 0, requestedWritten = 0;
  double instructions = 0;      ///< of warps
  double productOperations = 0; ///< of matrix instructions
  double floatOperations = 0;   ///< of threads
  /// What the source asks for, where that is known: without elements that masks
  /// keep out, and each once.
  std::optional<SourceOperations> asked;
  double askedProducts() const {
    return asked && productOperations > 0 ? asked->products : productOperations;
  }
  double askedFloats() const {
    return !asked ? floatOperations
                  : asked->floats +
                        (productOperations > 0 ? 0 : asked->floatProducts);
  }
  /// Microseconds of matrix instructions and of the busiest unit for floats, if
  /// all multiprocessors had the same share.
  double productUs = 0, floatUs = 0;
  double atomicTurns = 0; ///< of the sector that has most of them
  /// Through the second-level cache: what the nearest ones do not have; and the
  /// turns of its slices for that, a cycle each.
  double cacheBytes = 0, cacheTurns = 0;
  /// Passes through the multiprocessors' own memory and nearest caches.
  double passes = 0;
  double blockCycles = 0; ///< of a block that has a multiprocessor to itself
  unsigned blocksTogether = 1; ///< of this grid, at a time on a multiprocessor
  /// Warps of this grid that are resident on a multiprocessor.
  unsigned residentWarps() const {
    return blocksTogether * resources.warpsOfBlock();
  }
  /// Microseconds, each if it alone took time. Those that the launch has not
  /// are missing.
  std::vector<std::pair<Bound, double>> limits;
  double predictedUs = 0;
  Bound bound = Bound::Memory;
  /// Why no time is predicted; empty where one is.
  std::string noPrediction;
  std::optional<double> measuredUs; ///< on a device of this machine
  std::vector<ToldDecision> decisions;
  std::vector<Hint> hints;
  /// Empty where it was not asked for, or where `noMachineCode` says why.
  std::vector<MachineLine> machineCode;
  std::string noMachineCode;
  std::vector<int64_t> integers; ///< of Subject

  /// Bytes of a unit of global accesses.
  unsigned unitBytes() const { return unitBytesOf(chip); }
  /// How much more than its share the busiest multiprocessor has, as a factor:
  /// a grid does not fill a chip evenly.
  double imbalance() const;
};

/// Blocks of this grid that share a multiprocessor.
unsigned blocksTogetherOf(const Report &report);

/// Fills in the limits, the prediction and its bound. `cycles` are those of a
/// block that has a multiprocessor to itself.
void predict(Report &report, double cycles);

/// `profile` is of a launch of `program`.
Report makeReport(const sim::Program &program, const sim::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const Subject &subject, const Chip &chip);

/// The line of the source that the instruction at an address of a code object,
/// as linked, comes from; line 0: of none.
using SourceOfAddress = std::function<SourceLocation(uint64_t address)>;

/// The same of a code object of AMD's. There is no prediction: caches and
/// latencies of these chips are not in the model.
Report makeReport(const sim::amd::Program &program,
                  const sim::amd::Kernel &kernel,
                  const sim::amd::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const Subject &subject, const Chip &chip,
                  const SourceOfAddress &source);

/// The text of a line of a file; empty past the last.
using SourceText =
    std::function<std::string(const std::string &file, uint32_t line)>;

/// Several lines; ends with a newline.
std::string reportText(const Report &report, const SourceText &source);

/// The launches of one way to do something, one after the other.
struct Side {
  std::string name;
  std::vector<Report> launches;
};
/// Two ways beside each other: launches, bytes, times. Ends with a newline.
std::string comparisonText(const Side &ours, const Side &theirs);

/// A page that needs nothing else: each report's source with its costs in the
/// margin, and, where `theirs` has launches, both sides compared. `made` stands
/// at its end: how it came about.
std::string reportHtml(const Side &ours, const Side &theirs,
                       const SourceText &source, const std::string &made = "");

/// A picture (SVG): what the launch does a second by its operations for each
/// byte that memory moves, under what the chip can do. Empty where it has none.
std::string rooflineSvg(const Report &report);

/// "load: 4 bytes an access; not 16 bytes: ...". A conversion between layouts
/// has its price in passes and time.
std::string decisionText(const Report &report, const ToldDecision &decision);

/// "1.5 MB", "12 us", "2.15 G".
std::string bytesText(double bytes);
std::string timeText(double us);
std::string countText(double count);
/// A time as exactly as predictions are: two digits.
std::string predictedText(double us);
/// "1 program", "2 programs".
std::string countedText(uint64_t count, const std::string &what);
/// "32 registers, 0 bytes spilled, 16 of 64 warps resident (limit: ...)".
std::string resourcesText(const Report &report);
/// "1 MB read, 1 MB written at least; ...".
std::string memoryText(const Report &report);
/// "2.1 G by matrix instructions, 12 k by threads".
std::string operationsText(const Report &report);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_REPORT_H
