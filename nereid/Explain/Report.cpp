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
#include <filesystem>
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
  case Bound::Compute:
    return "instructions";
  case Bound::Products:
    return "products";
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
  std::string fileOf(const sim::Statement &statement) const;
  double cyclesOfBlock() const;

  const sim::Program &program;
  const sim::Profile &profile;
  const std::vector<Array> &arrays;
  Report &report;
  const double scale; ///< from the blocks that ran to the grid
  double productUs = 0;
  using Key = std::tuple<std::string, uint32_t, AccessKind, bool, std::string,
                         unsigned>;
  std::map<Key, AccessCost> accesses;
  /// Also those without an active lane, which are no requests.
  std::map<const AccessCost *, double> executions;
};

} // namespace

/// As the kernel's file was named by who asked: code has whole paths.
std::string Maker::fileOf(const sim::Statement &statement) const {
  auto found = program.files.find(statement.file);
  if (found == program.files.end()) {
    return "";
  }
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path whole = fs::absolute(report.location.file, error);
  return !error && whole.lexically_normal() ==
                       fs::path(found->second).lexically_normal()
             ? report.location.file
             : found->second;
}

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
  std::string path = fileOf(statement);
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
    cost.requests +=
        double(isShared ? counts.sharedRequests : counts.requests) * scale;
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
    double executed = double(counts.executed) * scale;
    lines[{fileOf(statement), statement.sourceLine}] += executed;
    report.instructions += executed;
    std::string opcode = opcodeOf(statement);
    if (std::optional<AccessKind> kind = kindOf(opcode)) {
      addAccess(statement, counts, *kind);
    }
    report.cacheBytes += double(counts.missed) * 32 * scale;
    report.passes += double(counts.wavefronts + counts.lines) * scale;
    Product product = productOf(opcode);
    report.productOperations += product.operations * executed;
    if (product.operations) {
      productUs += product.operations * executed /
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
  sim::Traffic traffic = profile.traffic(report.chip.fetchBytes);
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

/// A block's time where it has to wait for nobody else: what comes from memory
/// first, and the rest from the second-level cache.
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

/// Blocks that share a multiprocessor.
static unsigned blocksTogether(const Report &report) {
  unsigned most = report.resources.mostWarps ? report.resources.mostWarps : 64;
  unsigned ofBlock = std::max((report.resources.threads + 31) / 32, 1u);
  unsigned places = report.resources.residentBlocks
                        ? report.resources.residentBlocks
                        : std::max(most / ofBlock, 1u);
  uint64_t there = (report.blocks + report.chip.multiprocessors - 1) /
                   report.chip.multiprocessors;
  return unsigned(std::clamp<uint64_t>(there, 1, places));
}

/// How often the places for blocks are filled. A few blocks more than there are
/// places take as long as twice as many; of many waves the last one overlaps
/// with those before.
static double wavesOf(const Report &report) {
  constexpr double many = 4;
  double exact = double(report.blocks) /
                 (double(report.blocksTogether) * report.chip.multiprocessors);
  return exact > many ? exact : std::ceil(exact);
}

/// Each limit as if nothing else took time. Memory gives 0.92 of its rate (a
/// copy of 1 GiB on an H200, 2026-11), and the second-level cache 40 bytes a
/// cycle and multiprocessor: 80 slices of 64 bytes for 132 of them. A
/// multiprocessor takes a pass through its own memory a cycle, which is a line
/// of 128 bytes or a word of each bank, and issues four instructions. What a
/// block waits for by itself overlaps with the other blocks of its
/// multiprocessor, and with itself as far as it copies ahead: as if the two
/// were sides of a right angle. A kernel that does nothing takes 2 us.
void Maker::predict() {
  constexpr double achieved = 0.92, cacheRate = 40, issued = 4, launchUs = 2;
  const Chip &chip = report.chip;
  double cyclesOfUs = chip.gigahertz * 1e3;
  double ofAll = chip.multiprocessors * cyclesOfUs;
  double bytes = report.movedRead + report.movedWritten;
  report.blockCycles = cyclesOfBlock();
  report.blocksTogether = blocksTogether(report);
  const std::pair<Bound, double> rates[] = {
      {Bound::Memory, bytes / (chip.gigabytesPerSecond * achieved * 1e3)},
      {Bound::Cache, report.cacheBytes / cacheRate / ofAll},
      {Bound::Passes, report.passes / ofAll},
      {Bound::Compute, report.instructions / issued / ofAll},
      {Bound::Products, productUs}};
  double longest = 0;
  for (const auto &[bound, us] : rates) {
    if (us > 0) {
      report.limits.push_back({bound, us});
    }
    if (us > longest) {
      longest = us;
      report.bound = bound;
    }
  }
  double latency = wavesOf(report) * report.blockCycles / cyclesOfUs;
  report.limits.push_back({Bound::Latency, latency});
  if (latency > longest) {
    report.bound = Bound::Latency;
  }
  report.predictedUs =
      launchUs +
      std::max(latency,
               std::hypot(longest, latency / double(report.blocksTogether)));
}

Report makeReport(const sim::Program &program, const sim::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const Subject &subject, const Chip &chip) {
  Report report;
  report.kernel = program.name;
  report.location = subject.location;
  report.decisions = subject.decisions;
  report.target = program.target;
  report.chip = chip;
  report.grid = grid;
  report.blocks = profile.gridBlocks;
  report.simulatedBlocks = profile.blocks;
  report.resources = resources;
  Maker maker(program, profile, subject.arrays, report);
  maker.addInstructions();
  maker.addTraffic();
  maker.predict();
  addHints(report);
  return report;
}

} // namespace nereid::explain
