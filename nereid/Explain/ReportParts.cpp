//===- ReportParts.cpp ----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/ReportParts.h"

#include <algorithm>
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
