//===- Report.cpp - What a launch costs, and why --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Report.h"

#include "nereid/Explain/DataRegisters.h"
#include "nereid/Explain/Hints.h"
#include "nereid/Explain/ReportParts.h"
#include "nereid/Explain/Work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace nereid::explain {

const char *name(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "load";
  case AccessKind::Store:
    return "store";
  case AccessKind::Atomic:
    return "atomic";
  case AccessKind::Copy:
    return "copy";
  case AccessKind::MatrixLoad:
    return "ldmatrix";
  case AccessKind::MatrixStore:
    return "stmatrix";
  }
  return "";
}

const char *name(Bound bound) {
  switch (bound) {
  case Bound::Memory:
    return "memory";
  case Bound::Cache:
    return "cache";
  case Bound::Passes:
    return "passes";
  case Bound::Starts:
    return "starts";
  case Bound::Compute:
    return "instructions";
  case Bound::Floats:
    return "floats";
  case Bound::Products:
    return "products";
  case Bound::Atomics:
    return "atomics";
  case Bound::Latency:
    return "latency";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// By the opcode, its first word or two.
static std::optional<AccessKind> kindOf(const std::string &opcode) {
  static constexpr std::pair<std::string_view, AccessKind> kinds[] = {
      {"ld.", AccessKind::Load},
      {"st.", AccessKind::Store},
      {"atom.", AccessKind::Atomic},
      {"red.", AccessKind::Atomic},
      {"cp.async.c", AccessKind::Copy},
      {"ldmatrix.", AccessKind::MatrixLoad},
      {"stmatrix.", AccessKind::MatrixStore},
  };
  for (auto [prefix, kind] : kinds) {
    if (opcode.starts_with(prefix)) {
      return kind;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

namespace {

class Maker {
public:
  Maker(const sim::Program &program, const sim::Profile &profile,
        const std::vector<Array> &arrays, Report &report)
      : program(program), profile(profile), arrays(arrays), report(report),
        scale(profile.blocks
                  ? double(profile.gridBlocks) / double(profile.blocks)
                  : 1),
        fromData(program) {}

  void addInstructions();
  void addTraffic();
  void addWaves();
  double cyclesOfBlock() const;

private:
  void addAccess(const sim::Statement &statement, const sim::Counts &counts,
                 AccessKind kind);
  void addFloats(const std::string &opcode, double warps,
                 std::array<double, 4> &cycles) const;
  std::string fileOf(const sim::Statement &statement) const;

  const sim::Program &program;
  const sim::Profile &profile;
  const std::vector<Array> &arrays;
  Report &report;
  const double scale; ///< from the blocks that ran to the grid
  const DataRegisters fromData;
  using Key = std::tuple<std::string, uint32_t, AccessKind, bool, std::string,
                         unsigned>;
  std::map<Key, AccessCost> accesses;
  /// Also those without an active lane, which are no requests.
  std::map<const AccessCost *, double> executions;
  std::map<const AccessCost *, Beginnings> beginnings;
};

} // namespace

std::string Maker::fileOf(const sim::Statement &statement) const {
  auto found = program.files.find(statement.file);
  return found == program.files.end() ? "" : fileAsNamed(found->second, report);
}

void Maker::addAccess(const sim::Statement &statement,
                      const sim::Counts &counts, AccessKind kind) {
  if (!counts.sectors && !counts.wavefronts) {
    return;
  }
  std::string path = fileOf(statement);
  unsigned laneBytes = counts.lanes ? unsigned(counts.bytes / counts.lanes) : 0;
  for (bool isShared : {false, true}) {
    uint64_t units = isShared ? counts.wavefronts : counts.sectors;
    if (!units) {
      continue;
    }
    std::string array = isShared ? "" : arrayAt(counts.firstAddress, arrays);
    AccessCost &cost = accesses[{path, statement.sourceLine, kind, isShared,
                                 array, laneBytes}];
    cost.kind = kind;
    cost.isShared = isShared;
    cost.array = array;
    cost.file = path;
    cost.line = statement.sourceLine;
    cost.laneBytes = laneBytes;
    cost.laneStride = counts.laneStride;
    cost.requests +=
        double(isShared ? counts.sharedRequests : counts.requests) * scale;
    bool isCopy = kind == AccessKind::Copy;
    executions[&cost] +=
        double(isCopy ? std::max(counts.requests, counts.sharedRequests)
                      : counts.executed) *
        scale;
    cost.isOfData |=
        fromData.hasAddressOf(size_t(&statement - program.statements.data()));
    if (!isShared) {
      beginnings[&cost].add(counts.firstAddress, counts.remainders,
                            counts.laneStride, laneBytes);
    }
    cost.lanesActive += double(counts.lanes) * scale; // divided below
    cost.bytes += double(counts.bytes) * scale;
    cost.units += double(units) * scale;
    cost.leastUnits +=
        double(isShared ? counts.leastWavefronts : counts.leastSectors) * scale;
  }
}

/// Cycles of the multiprocessor's units: floats, halves, doubles, functions.
void Maker::addFloats(const std::string &opcode, double warps,
                      std::array<double, 4> &cycles) const {
  Pipes pipes = report.chip.pipes();
  const std::array<double, 4> lanesOfCycle = {pipes.f32, pipes.f16x2, pipes.f64,
                                              pipes.special};
  std::array<double, 4> uses = {};
  switch (unitOf(opcode)) {
  case FloatUnit::None:
    return;
  case FloatUnit::Single:
    uses[0] = opcode.ends_with("x2") ? 2 : 1;
    break;
  case FloatUnit::Half:
    uses[1] = 1;
    break;
  case FloatUnit::Double:
    uses[2] = 1;
    break;
  case FloatUnit::Special:
    uses[3] = 1;
    break;
  }
  for (size_t i = 0; i < cycles.size(); ++i) {
    cycles[i] += warps * 32 * uses[i] / lanesOfCycle[i];
  }
}

/// A slice of the second-level cache serves two sectors of a line a cycle. It
/// reads and writes what atomics change, and what was written in part waits for
/// the rest of the sector: both take longer (docs/Explain.md, "Constants").
static double cacheTurns(const sim::Counts &counts,
                         std::optional<AccessKind> kind) {
  constexpr double atomic = 2.1, inPart = 2.7;
  double turns = double(counts.turns);
  if (kind == AccessKind::Atomic) {
    return atomic * turns;
  }
  return kind == AccessKind::Store
             ? turns + (inPart - 1) * double(counts.partialTurns)
             : turns;
}

void Maker::addInstructions() {
  std::array<double, 4> cycles = {};
  InstructionsOfLines lines;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const sim::Statement &statement = program.statements[i];
    const sim::Counts &counts = profile.counts[i];
    if (!counts.executed) {
      continue;
    }
    double executed = double(counts.executed) * scale;
    lines[{fileOf(statement), statement.sourceLine}] += executed;
    report.instructions += executed;
    std::string opcode = opcodeOf(statement);
    std::optional<AccessKind> kind = kindOf(opcode);
    if (kind) {
      addAccess(statement, counts, *kind);
    }
    report.cacheTurns += cacheTurns(counts, kind) * scale;
    report.cacheBytes += double(counts.missed) * 32 * scale;
    report.passes += double(counts.wavefronts + counts.lines) * scale;
    Product product = productOf(opcode);
    report.productOperations += product.operations * executed;
    if (product.operations) {
      report.productUs +=
          product.operations * executed /
          (report.chip.productRate(product.type, product.isGroup) * 1e6);
    }
    report.floatOperations +=
        floatOperationsOf(opcode) * double(counts.lanes) * scale;
    addFloats(opcode, executed, cycles);
  }
  double ofAll = report.chip.multiprocessors * report.chip.gigahertz * 1e3;
  report.floatUs = *std::max_element(cycles.begin(), cycles.end()) / ofAll;
  report.atomicTurns = profile.mostAtomicTurns();
  for (auto &[key, cost] : accesses) {
    cost.lanesActive /= executions[&cost];
    beginnings[&cost].tell(cost, report.chip);
    report.accesses.push_back(cost);
  }
  addLines(lines, report);
}

void Maker::addTraffic() {
  sim::Traffic traffic = explain::addTraffic(profile, arrays, report);
  if (report.chip.fetchBytes == 64) {
    report.halvesLeftOut = std::max(traffic.linesRead - traffic.movedRead, 0.0);
  }
}

/// Blocks that run at the same time share what they read in the second-level
/// cache, and so do those that follow, while a wave of them reads little beside
/// it: up to a third of the cache all of it is found again, from two thirds on
/// nothing (docs/Explain.md, "Constants").
void Maker::addWaves() {
  const sim::ReadPlaces &places = profile.places;
  uint64_t together =
      uint64_t(blocksTogetherOf(report)) * report.chip.multiprocessors;
  double once = places.bytesOf(0, places.blocks);
  if (!once || together >= places.blocks) {
    return;
  }
  // Tiles may overlap, and memory reads whole fetches.
  double ofPlaces = report.movedRead / once;
  double ofWaves = places.bytesOfWaves(together) * ofPlaces;
  double waves = std::ceil(double(places.blocks) / double(together));
  double third = report.chip.cacheMegabytes * 1e6 / 3;
  double lost = std::clamp((ofWaves / waves - third) / third, 0.0, 1.0);
  report.movedAgain = lost * (ofWaves - report.movedRead);
  report.movedRead += report.movedAgain;
}

/// A block's time where it has to wait for no other block: what comes from
/// memory first, and the rest from the second-level cache.
double Maker::cyclesOfBlock() const {
  if (!profile.blocks) {
    return 0;
  }
  double read = 0;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    std::optional<AccessKind> kind = kindOf(opcodeOf(program.statements[i]));
    if (kind && *kind != AccessKind::Store) {
      read += double(profile.counts[i].missed) * 32 * scale;
    }
  }
  double fromMemory = read ? std::min(1.0, report.movedRead / read) : 1;
  return (fromMemory * double(profile.cycles[0]) +
          (1 - fromMemory) * double(profile.cycles[1])) /
         double(profile.blocks);
}

Report makeReport(const sim::Program &program, const sim::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const Subject &subject, const Chip &chip) {
  Report report = reportOf(subject, profile, grid, resources, chip);
  report.kernel = program.name;
  report.target = program.target;
  Maker maker(program, profile, subject.arrays, report);
  maker.addInstructions();
  maker.addTraffic();
  maker.addWaves();
  predict(report, maker.cyclesOfBlock());
  addHints(report);
  return report;
}

} // namespace nereid::explain
