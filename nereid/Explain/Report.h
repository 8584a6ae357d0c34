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

enum class Bound { Memory, Compute, Products, Latency };
const char *name(Bound bound);

struct Hint {
  std::string file;
  uint32_t line = 0; ///< 0: of the kernel
  std::string text;
};

struct Report {
  std::string kernel, target;
  Chip chip{};
  std::array<uint32_t, 3> grid{};
  uint64_t blocks = 0, simulatedBlocks = 0;
  Resources resources;
  std::vector<AccessCost> accesses; ///< most units first, global in front
  std::vector<LineCost> lines;      ///< most instructions first
  /// Bytes of memory that the launch has to read and write: each that it
  /// touches counted once.
  double compulsoryRead = 0, compulsoryWritten = 0;
  /// The same in whole sectors, which is what memory moves.
  double movedRead = 0, movedWritten = 0;
  /// Whole sectors that warps asked for; caches answer what was there before.
  double requestedRead = 0, requestedWritten = 0;
  double instructions = 0;      ///< of warps
  double productOperations = 0; ///< of matrix instructions
  // Microseconds, each if it alone took time.
  double memoryUs = 0, issueUs = 0, productUs = 0, latencyUs = 0;
  double predictedUs = 0;
  Bound bound = Bound::Memory;
  std::vector<Hint> hints;
};

/// `profile` is of a launch of `program`; `arrays` name the arguments.
Report makeReport(const sim::Program &program, const sim::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const std::vector<Array> &arrays, const Chip &chip);

/// Several lines; ends with a newline. `source` returns the text of a line.
std::string reportText(const Report &report,
                       const std::function<std::string(const std::string &file,
                                                       uint32_t line)> &source);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_REPORT_H
