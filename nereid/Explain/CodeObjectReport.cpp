//===- CodeObjectReport.cpp - What a launch costs on AMD's chips ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Report.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

namespace nereid::explain {

/// By the mnemonic. Moves between lanes by way of LDS touch no memory.
static AccessKind kindOf(std::string_view mnemonic) {
  auto has = [&](std::string_view part) {
    return mnemonic.find(part) != std::string_view::npos;
  };
  if (has("load") || has("_read")) {
    return AccessKind::Load;
  }
  bool isPlain = has("store") || has("_write");
  return isPlain && !has("cmpstore") && !has("storexchg") ? AccessKind::Store
                                                          : AccessKind::Atomic;
}

/// Multiplications and additions of a wave's "v_mfma_f32_16x16x16_f16" or
/// "v_wmma_f32_16x16x16_f16"; 0 for any other.
static double productOperationsOf(const std::string &mnemonic) {
  if (!mnemonic.starts_with("v_mfma") && !mnemonic.starts_with("v_wmma")) {
    return 0;
  }
  unsigned m = 0, n = 0, k = 0;
  size_t at = mnemonic.find('x');
  while (at > 0 && at != std::string::npos && mnemonic[at - 1] != '_') {
    --at;
  }
  bool isRead = at != std::string::npos &&
                std::sscanf(&mnemonic[at], "%ux%ux%u", &m, &n, &k) == 3;
  return isRead ? 2.0 * m * n * k : 0;
}

namespace {

class Maker {
public:
  Maker(const sim::amd::Program &program, const sim::amd::Profile &profile,
        const std::vector<Array> &arrays, const SourceOfAddress &source,
        Report &report)
      : program(program), profile(profile), arrays(arrays), source(source),
        report(report),
        scale(profile.blocks
                  ? double(profile.gridBlocks) / double(profile.blocks)
                  : 1) {}

  void addInstructions();
  void addTraffic();

private:
  void addAccess(const sim::amd::Counts &counts, AccessKind kind,
                 const SourceLocation &place);
  SourceLocation placeOf(uint64_t address) const;

  const sim::amd::Program &program;
  const sim::amd::Profile &profile;
  const std::vector<Array> &arrays;
  const SourceOfAddress &source;
  Report &report;
  const double scale; ///< from the workgroups that ran to the grid
  using Key = std::tuple<std::string, uint32_t, AccessKind, bool, std::string,
                         unsigned>;
  std::map<Key, AccessCost> accesses;
  /// Also those without an active lane, which are no requests.
  std::map<const AccessCost *, double> executions;
};

} // namespace

/// As the kernel's file was named by who asked: code has whole paths.
SourceLocation Maker::placeOf(uint64_t address) const {
  namespace fs = std::filesystem;
  SourceLocation place = source ? source(address) : SourceLocation();
  std::error_code error;
  fs::path whole = fs::absolute(report.location.file, error);
  if (!error &&
      whole.lexically_normal() == fs::path(place.file).lexically_normal()) {
    place.file = report.location.file;
  }
  return place;
}

void Maker::addAccess(const sim::amd::Counts &counts, AccessKind kind,
                      const SourceLocation &place) {
  unsigned laneBytes = counts.lanes ? unsigned(counts.bytes / counts.lanes) : 0;
  for (bool isShared : {false, true}) {
    uint64_t requests = isShared ? counts.sharedRequests : counts.requests;
    if (!requests) {
      continue;
    }
    std::string name;
    for (const Array &array : arrays) {
      if (!isShared && counts.firstAddress >= array.begin &&
          counts.firstAddress < array.begin + array.bytes) {
        name = array.name;
      }
    }
    AccessCost &cost =
        accesses[{place.file, place.line, kind, isShared, name, laneBytes}];
    cost.kind = kind;
    cost.isShared = isShared;
    cost.array = name;
    cost.file = place.file;
    cost.line = place.line;
    cost.laneBytes = laneBytes;
    cost.laneStride = counts.laneStride;
    cost.requests += double(requests) * scale;
    executions[&cost] += double(counts.executed) * scale;
    cost.lanesActive += double(counts.lanes) * scale; // divided below
    cost.bytes += double(counts.bytes) * scale;
    auto add = [&](double &to, uint64_t of) { to += double(of) * scale; };
    add(cost.units, isShared ? counts.passes : counts.halfLines);
    add(cost.leastUnits, isShared ? counts.leastPasses : counts.leastHalfLines);
    add(cost.lines, counts.lines);
    add(cost.leastLines, counts.leastLines);
  }
}

void Maker::addInstructions() {
  std::map<std::pair<std::string, uint32_t>, double> lines;
  std::vector<sim::amd::Line> text = sim::amd::disassemble(program);
  for (size_t i = 0; i < text.size() && i < profile.counts.size(); ++i) {
    const sim::amd::Counts &counts = profile.counts[i];
    if (!counts.executed) {
      continue;
    }
    SourceLocation place = placeOf(text[i].address);
    double executed = double(counts.executed) * scale;
    lines[{place.file, place.line}] += executed;
    report.instructions += executed;
    report.passes += double(counts.passes) * scale;
    std::string mnemonic = text[i].text.substr(0, text[i].text.find(' '));
    addAccess(counts, kindOf(mnemonic), place);
    report.productOperations += productOperationsOf(mnemonic) * executed;
  }
  for (auto &[key, cost] : accesses) {
    cost.lanesActive /= executions[&cost];
    report.accesses.push_back(cost);
  }
  std::ranges::stable_sort(
      report.accesses, [](const AccessCost &a, const AccessCost &b) {
        return a.isShared != b.isShared ? b.isShared : a.units > b.units;
      });
  for (const auto &[key, executed] : lines) {
    report.lines.push_back({key.first, key.second, executed});
  }
  std::ranges::stable_sort(report.lines,
                           [](const LineCost &a, const LineCost &b) {
                             return a.instructions > b.instructions;
                           });
}

void Maker::addTraffic() {
  std::vector<sim::MemoryRange> ranges;
  for (const Array &array : arrays) {
    ranges.push_back({array.begin, array.begin + array.bytes});
  }
  sim::Traffic traffic = profile.traffic(report.chip.fetchBytes, ranges);
  report.compulsoryRead = traffic.read;
  report.compulsoryWritten = traffic.written;
  report.movedRead = traffic.movedRead;
  report.movedWritten = traffic.movedWritten;
  for (const AccessCost &cost : report.accesses) {
    bool writes =
        cost.kind == AccessKind::Store || cost.kind == AccessKind::Atomic;
    double bytes = cost.isShared ? 0 : cost.units * report.unitBytes();
    (writes ? report.requestedWritten : report.requestedRead) += bytes;
  }
}

Report makeReport(const sim::amd::Program &program,
                  const sim::amd::Kernel &kernel,
                  const sim::amd::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const Subject &subject, const Chip &chip,
                  const SourceOfAddress &source) {
  Report report;
  report.kernel = kernel.name;
  report.location = subject.location;
  report.decisions = subject.decisions;
  report.configuration = subject.configuration;
  report.integers = subject.integers;
  report.target = sim::amd::targetOf(program);
  report.chip = chip;
  report.grid = grid;
  report.blocks = profile.gridBlocks;
  report.simulatedBlocks = profile.blocks;
  report.resources = resources;
  report.noPrediction =
      "latencies and caches of AMD's chips are not in the model";
  Maker maker(program, profile, subject.arrays, source, report);
  maker.addInstructions();
  maker.addTraffic();
  report.blocksTogether = blocksTogetherOf(report);
  return report;
}

} // namespace nereid::explain
