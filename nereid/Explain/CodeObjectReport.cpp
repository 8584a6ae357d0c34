//===- CodeObjectReport.cpp - What a launch costs on AMD's chips ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Hints.h"
#include "nereid/Explain/ReportParts.h"
#include "nereid/Sim/AMD/Counts/Flow.h"

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
                  : 1),
        isOfData(sim::amd::addressesOfData(program)),
        guards(sim::amd::guardsOf(program)) {}

  void addInstructions();

private:
  void addAccess(size_t instruction, AccessKind kind,
                 const SourceLocation &place);
  SourceLocation placeOf(uint64_t address) const;

  const sim::amd::Program &program;
  const sim::amd::Profile &profile;
  const std::vector<Array> &arrays;
  const SourceOfAddress &source;
  Report &report;
  const double scale; ///< from the workgroups that ran to the grid
  const std::vector<bool> isOfData;
  const std::vector<uint32_t> guards;
  using Key = std::tuple<std::string, uint32_t, AccessKind, bool, std::string,
                         unsigned>;
  std::map<Key, AccessCost> accesses;
  /// Also those without an active lane, which are no requests.
  std::map<const AccessCost *, double> executions;
  std::map<const AccessCost *, Beginnings> beginnings;
};

} // namespace

SourceLocation Maker::placeOf(uint64_t address) const {
  SourceLocation place = source ? source(address) : SourceLocation();
  place.file = fileAsNamed(place.file, report);
  return place;
}

void Maker::addAccess(size_t instruction, AccessKind kind,
                      const SourceLocation &place) {
  const sim::amd::Counts &counts = profile.counts[instruction];
  unsigned laneBytes = counts.lanes ? unsigned(counts.bytes / counts.lanes) : 0;
  for (bool isShared : {false, true}) {
    uint64_t requests = isShared ? counts.sharedRequests : counts.requests;
    if (!requests) {
      continue;
    }
    std::string name = isShared ? "" : arrayAt(counts.firstAddress, arrays);
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
    executions[&cost] +=
        double(profile.counts[guards[instruction]].executed) * scale;
    cost.isOfData |= isOfData[instruction];
    if (!isShared) {
      beginnings[&cost].add(counts.firstAddress, counts.remainders,
                            counts.laneStride, laneBytes);
    }
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
  InstructionsOfLines lines;
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
    addAccess(i, kindOf(mnemonic), place);
    report.productOperations += productOperationsOf(mnemonic) * executed;
  }
  for (auto &[key, cost] : accesses) {
    cost.lanesActive /= executions[&cost];
    beginnings[&cost].tell(cost, report.chip);
    report.accesses.push_back(cost);
  }
  addLines(lines, report);
}

Report makeReport(const sim::amd::Program &program,
                  const sim::amd::Kernel &kernel,
                  const sim::amd::Profile &profile,
                  std::array<uint32_t, 3> grid, const Resources &resources,
                  const Subject &subject, const Chip &chip,
                  const SourceOfAddress &source) {
  Report report = reportOf(subject, profile, grid, resources, chip);
  report.kernel = kernel.name;
  report.target = sim::amd::targetOf(program);
  report.noPrediction =
      "latencies and caches of AMD's chips are not in the model";
  Maker maker(program, profile, subject.arrays, source, report);
  maker.addInstructions();
  addTraffic(profile, subject.arrays, report);
  report.blocksTogether = blocksTogetherOf(report);
  addHints(report);
  return report;
}

} // namespace nereid::explain
