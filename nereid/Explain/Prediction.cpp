//===- Prediction.cpp - How long a launch takes at least ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Report.h"

#include <algorithm>
#include <cmath>

namespace nereid::explain {

unsigned blocksTogetherOf(const Report &report) {
  unsigned most = report.resources.mostWarps ? report.resources.mostWarps : 64;
  unsigned ofBlock = std::max(report.resources.warpsOfBlock(), 1u);
  unsigned places = report.resources.residentBlocks
                        ? report.resources.residentBlocks
                        : std::max(most / ofBlock, 1u);
  uint64_t there = (report.blocks + report.chip.multiprocessors - 1) /
                   report.chip.multiprocessors;
  return unsigned(std::clamp<uint64_t>(there, 1, places));
}

/// One of them runs so many blocks at least, however they are handed out.
double Report::imbalance() const {
  double share = double(blocks) / chip.multiprocessors;
  return share > 0 ? std::ceil(share) / share : 1;
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

/// Each limit as if nothing else took time. Where the constants come from:
/// docs/Explain.md, "Constants". Memory gives less than the rate of its data
/// sheet, and half of a line takes longer than its bytes. The second-level
/// cache gives a multiprocessor two sectors a cycle. The chip starts a block a
/// cycle. A multiprocessor takes a pass through its own memory a cycle, which
/// is a line of 128 bytes or a word of each bank, and issues four instructions.
/// Atomics at one sector take a cycle each, one after the other. What a block
/// waits for by itself overlaps with the other blocks of its multiprocessor,
/// and with itself as far as it copies ahead: as if the two were sides of a
/// right angle. A kernel that does nothing takes the time of its launch.
void predict(Report &report, double cycles) {
  constexpr double achieved = 0.92, issued = 4, launchUs = 2;
  constexpr double slices = 0.625, ownSlices = 1, leftOut = 0.6;
  const Chip &chip = report.chip;
  double cyclesOfUs = chip.gigahertz * 1e3;
  double evenly = chip.multiprocessors * cyclesOfUs;
  double ofAll = evenly / report.imbalance();
  double bytes =
      report.movedRead + report.movedWritten + leftOut * report.halvesLeftOut;
  report.blockCycles = cycles;
  report.blocksTogether = blocksTogetherOf(report);
  const std::pair<Bound, double> rates[] = {
      {Bound::Memory, bytes / (chip.gigabytesPerSecond * achieved * 1e3)},
      {Bound::Cache, std::max(report.cacheTurns / slices / evenly,
                              report.cacheTurns / ownSlices / ofAll)},
      {Bound::Passes, report.passes / ofAll},
      {Bound::Starts, double(report.blocks) / cyclesOfUs},
      {Bound::Compute, report.instructions / issued / ofAll},
      {Bound::Floats, report.floatUs * report.imbalance()},
      {Bound::Products, report.productUs * report.imbalance()},
      {Bound::Atomics, report.atomicTurns / cyclesOfUs}};
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

} // namespace nereid::explain
