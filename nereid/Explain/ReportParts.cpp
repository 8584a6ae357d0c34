//===- ReportParts.cpp ----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/ReportParts.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>

namespace nereid::explain {

Report reportOf(const Subject &subject, const sim::TouchedMemory &memory,
                std::array<uint32_t, 3> grid, const Resources &resources,
                const Chip &chip) {
  Report report;
  report.location = subject.location;
  report.decisions = subject.decisions;
  report.configuration = subject.configuration;
  report.integers = subject.integers;
  report.chip = chip;
  report.grid = grid;
  report.blocks = memory.gridBlocks;
  report.simulatedBlocks = memory.blocks;
  report.resources = resources;
  return report;
}

std::string fileAsNamed(const std::string &file, const Report &report) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path whole = fs::absolute(report.location.file, error);
  return !error && whole.lexically_normal() == fs::path(file).lexically_normal()
             ? report.location.file
             : file;
}

std::string arrayAt(uint64_t address, const std::vector<Array> &arrays) {
  for (const Array &array : arrays) {
    if (address >= array.begin && address < array.begin + array.bytes) {
      return array.name;
    }
  }
  return "";
}

/// Does an access always begin at the same place of what a thread takes?
static bool isEven(unsigned remainders, int64_t laneStride,
                   unsigned laneBytes) {
  constexpr unsigned widest = 16;
  int64_t stride = laneStride ? std::abs(laneStride) : widest;
  unsigned taken = stride > widest || !std::has_single_bit(uint64_t(stride))
                       ? laneBytes
                       : unsigned(stride);
  uint32_t folded = 0;
  for (unsigned at = 0; at < widest; ++at) {
    folded |= (remainders >> at & 1u) << (at % std::max(taken, 1u));
  }
  return std::popcount(folded) <= 1;
}

void Beginnings::add(uint64_t firstAddress, unsigned remainders,
                     int64_t laneStride, unsigned laneBytes) {
  lowest = std::min(lowest.value_or(firstAddress), firstAddress);
  isUneven |= !isEven(remainders, laneStride, laneBytes);
}

void Beginnings::tell(AccessCost &cost, const Chip &chip) const {
  if (!lowest) {
    return;
  }
  cost.insideUnit = unsigned(*lowest % unitBytesOf(chip));
  if (!isUneven) {
    cost.remainder = unsigned(*lowest % 16);
  }
}

void addLines(const InstructionsOfLines &lines, Report &report) {
  std::ranges::stable_sort(
      report.accesses, [](const AccessCost &a, const AccessCost &b) {
        return a.isShared != b.isShared ? b.isShared : a.units > b.units;
      });
  for (const auto &[place, executed] : lines) {
    report.lines.push_back({place.first, place.second, executed});
  }
  std::ranges::stable_sort(report.lines,
                           [](const LineCost &a, const LineCost &b) {
                             return a.instructions > b.instructions;
                           });
}

sim::Traffic addTraffic(const sim::TouchedMemory &memory,
                        const std::vector<Array> &arrays, Report &report) {
  std::vector<sim::MemoryRange> ranges;
  for (const Array &array : arrays) {
    ranges.push_back({array.begin, array.begin + array.bytes});
  }
  sim::Traffic traffic = memory.traffic(report.chip.fetchBytes, ranges);
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
        cost.units * report.unitBytes();
  }
  return traffic;
}

} // namespace nereid::explain
