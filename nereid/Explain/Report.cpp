//===- Report.cpp - What a launch costs, and why --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Report.h"

#include "nereid/Explain/Hints.h"
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
  case Bound::Compute:
    return "instructions";
  case Bound::Products:
    return "matrix instructions";
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

/// 10^12 a second; the rate of f16 for what the chip has no numbers of.
static double rateOf(const Chip &chip, const std::string &type) {
  double rate = type == "tf32"                     ? chip.teraTf32
                : type == "f64"                    ? chip.teraF64
                : type == "e4m3" || type == "e5m2" ? chip.teraF8
                : type == "s8" || type == "u8"     ? chip.teraI8
                                                   : chip.teraF16;
  return rate ? rate : chip.teraF16;
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
                  : 1) {}

  void addInstructions();
  void addTraffic();
  void predict();

private:
  void addAccess(const sim::Statement &statement, const sim::Counts &counts,
                 AccessKind kind);
  std::string arrayAt(uint64_t address) const;

  const sim::Program &program;
  const sim::Profile &profile;
  const std::vector<Array> &arrays;
  Report &report;
  const double scale; ///< from the blocks that ran to the grid
  using Key = std::tuple<std::string, uint32_t, AccessKind, bool, std::string,
                         unsigned>;
  std::map<Key, AccessCost> accesses;
  /// Also those without an active lane, which are no requests.
  std::map<const AccessCost *, double> executions;
};

} // namespace

std::string Maker::arrayAt(uint64_t address) const {
  for (const Array &array : arrays) {
    if (address >= array.begin && address < array.begin + array.bytes) {
      return array.name;
    }
  }
  return "";
}

void Maker::addAccess(const sim::Statement &statement,
                      const sim::Counts &counts, AccessKind kind) {
  if (!counts.sectors && !counts.wavefronts) {
    return;
  }
  auto file = program.files.find(statement.file);
  std::string path = file == program.files.end() ? "" : file->second;
  unsigned laneBytes = counts.lanes ? unsigned(counts.bytes / counts.lanes) : 0;
  for (bool isShared : {false, true}) {
    uint64_t units = isShared ? counts.wavefronts : counts.sectors;
    if (!units) {
      continue;
    }
    std::string array = isShared ? "" : arrayAt(counts.firstAddress);
    AccessCost &cost = accesses[{path, statement.sourceLine, kind, isShared,
                                 array, laneBytes}];
    cost.kind = kind;
    cost.isShared = isShared;
    cost.array = array;
    cost.file = path;
    cost.line = statement.sourceLine;
    cost.laneBytes = laneBytes;
    cost.laneStride = counts.laneStride;
    cost.requests += double(counts.requests) * scale;
    executions[&cost] += double(counts.executed) * scale;
    cost.lanesActive += double(counts.lanes) * scale; // divided below
    cost.bytes += double(counts.bytes) * scale;
    cost.units += double(units) * scale;
    cost.leastUnits +=
        double(isShared ? counts.leastWavefronts : counts.leastSectors) * scale;
  }
}

void Maker::addInstructions() {
  std::map<std::pair<std::string, uint32_t>, double> lines;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const sim::Statement &statement = program.statements[i];
    const sim::Counts &counts = profile.counts[i];
    if (!counts.executed) {
      continue;
    }
    auto file = program.files.find(statement.file);
    double executed = double(counts.executed) * scale;
    lines[{file == program.files.end() ? "" : file->second,
           statement.sourceLine}] += executed;
    report.instructions += executed;
    std::string opcode = opcodeOf(statement);
    if (std::optional<AccessKind> kind = kindOf(opcode)) {
      addAccess(statement, counts, *kind);
    }
    Product product = productOf(opcode);
    report.productOperations += product.operations * executed;
    if (product.operations) {
      report.productUs += product.operations * executed /
                          (rateOf(report.chip, product.type) * 1e6);
    }
  }
  for (auto &[key, cost] : accesses) {
    cost.lanesActive /= executions[&cost];
    report.accesses.push_back(cost);
  }
  std::stable_sort(report.accesses.begin(), report.accesses.end(),
                   [](const AccessCost &a, const AccessCost &b) {
                     return a.isShared != b.isShared ? b.isShared
                                                     : a.units > b.units;
                   });
  for (const auto &[key, executed] : lines) {
    report.lines.push_back({key.first, key.second, executed});
  }
  std::stable_sort(report.lines.begin(), report.lines.end(),
                   [](const LineCost &a, const LineCost &b) {
                     return a.instructions > b.instructions;
                   });
}

void Maker::addTraffic() {
  sim::Traffic traffic = profile.traffic();
  report.compulsoryRead = traffic.read;
  report.compulsoryWritten = traffic.written;
  report.movedRead = traffic.movedRead;
  report.movedWritten = traffic.movedWritten;
  for (const AccessCost &cost : report.accesses) {
    if (cost.isShared) {
      continue;
    }
    bool writes =
        cost.kind == AccessKind::Store || cost.kind == AccessKind::Atomic;
    (writes ? report.requestedWritten : report.requestedRead) +=
        cost.units * 32;
  }
}

/// Four schedulers of a multiprocessor issue an instruction a cycle each.
/// Memory gives 0.92 of its rate (a copy of 1 GiB on an H200, 2026-11). Nothing
/// takes less than a kernel that does nothing: 2 us, and a wave of blocks a
/// latency of memory more.
void Maker::predict() {
  constexpr double achieved = 0.92, schedulers = 4, launchUs = 2, waveUs = 0.7;
  const Chip &chip = report.chip;
  double bytes = report.movedRead + report.movedWritten;
  report.memoryUs = bytes / (chip.gigabytesPerSecond * achieved * 1e3);
  report.issueUs = report.instructions / schedulers / chip.multiprocessors /
                   (chip.gigahertz * 1e3);
  unsigned resident = std::max(report.resources.residentBlocks, 1u);
  double waves = std::ceil(double(report.blocks) /
                           (double(resident) * chip.multiprocessors));
  report.latencyUs = launchUs + waves * waveUs;
  double busy = std::max({report.memoryUs, report.issueUs, report.productUs});
  report.predictedUs = std::max(busy + launchUs, report.latencyUs);
  report.bound = report.latencyUs > busy + launchUs ? Bound::Latency
                 : busy == report.memoryUs          ? Bound::Memory
                 : busy == report.productUs         ? Bound::Products
                                                    : Bound::Compute;
}

Report makeReport(const sim::Program &program, const sim::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const std::vector<Array> &arrays, const Chip &chip) {
  Report report;
  report.kernel = program.name;
  report.target = program.target;
  report.chip = chip;
  report.grid = grid;
  report.blocks = profile.gridBlocks;
  report.simulatedBlocks = profile.blocks;
  report.resources = resources;
  Maker maker(program, profile, arrays, report);
  maker.addInstructions();
  maker.addTraffic();
  maker.predict();
  addHints(report);
  return report;
}

} // namespace nereid::explain
