//===- Report.h - What a launch costs, and why ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made from a launch on the simulator, which counts what every instruction does
// to memory, and from what the assembler says of registers. Needs no GPU.
// docs/Explain.md.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_REPORT_H
#define NEREID_EXPLAIN_REPORT_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Explain/Chip.h"
#include "nereid/Sim/Launch.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::explain {

/// What the assembler and the launch say; 0 registers: no assembler was there.
struct Resources {
  unsigned threads = 0; ///< of a block
  unsigned registers = 0, spillBytes = 0, sharedBytes = 0;
  unsigned residentBlocks = 0;       ///< on a multiprocessor
  unsigned warps = 0, mostWarps = 0; ///< resident, and what one can hold
  std::string limit;                 ///< what keeps it from more
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
  double lanesActive = 0; ///< of 32, on the average over all warps
  double bytes = 0;       ///< that threads asked for
  /// Global: sectors of 32 bytes. Shared: passes.
  double units = 0, leastUnits = 0;

  double unitsPerRequest() const { return requests ? units / requests : 0; }
  double leastPerRequest() const {
    return requests ? leastUnits / requests : 0;
  }
  double excess() const { return leastUnits ? units / leastUnits : 1; }
};

struct LineCost {
  std::string file;
  uint32_t line = 0;
  double instructions = 0; ///< of warps, PTX
};

/// What a launch may wait for: bytes of memory and of the second-level cache,
/// passes through the multiprocessors' own memory, slots to issue instructions,
/// matrix instructions, and each warp for its own results.
enum class Bound { Memory, Cache, Passes, Compute, Products, Latency };
const char *name(Bound bound);

struct Hint {
  std::string file;
  uint32_t line = 0; ///< 0: of the kernel
  std::string text;
};

/// What is known of a kernel besides its code.
struct Subject {
  SourceLocation location; ///< of the function
  std::vector<Array> arrays;
  std::vector<ToldDecision> decisions;
};

struct Report {
  std::string kernel, target;
  SourceLocation location;
  Chip chip{};
  std::array<uint32_t, 3> grid{};
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
  /// Whole sectors that warps asked for; caches answer what was there before.
  double requestedRead = 0, requestedWritten = 0;
  double instructions = 0;      ///< of warps
  double productOperations = 0; ///< of matrix instructions
  /// Through the second-level cache: what the nearest ones do not have.
  double cacheBytes = 0;
  /// Passes through the multiprocessors' own memory and nearest caches.
  double passes = 0;
  double blockCycles = 0; ///< of a block that has a multiprocessor to itself
  unsigned blocksTogether = 1; ///< at a time on a multiprocessor
  /// Microseconds, each if it alone took time. Those that the launch has not
  /// are missing.
  std::vector<std::pair<Bound, double>> limits;
  double predictedUs = 0;
  Bound bound = Bound::Memory;
  std::optional<double> measuredUs; ///< on a device of this machine
  std::vector<ToldDecision> decisions;
  std::vector<Hint> hints;
};

/// `profile` is of a launch of `program`.
Report makeReport(const sim::Program &program, const sim::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const Subject &subject, const Chip &chip);

/// The text of a line of a file; empty behind the last.
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
/// margin, and, where `theirs` has launches, both sides compared.
std::string reportHtml(const Side &ours, const Side &theirs,
                       const SourceText &source);

/// "load: 4 bytes an access; not 16 bytes: ...". A conversion between layouts
/// has its price in passes and time.
std::string decisionText(const Report &report, const ToldDecision &decision);

/// "1.5 MB", "12 us".
std::string bytesText(double bytes);
std::string timeText(double us);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_REPORT_H
