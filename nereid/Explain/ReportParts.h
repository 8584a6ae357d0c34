//===- ReportParts.h - What reports of all simulators share ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_REPORTPARTS_H
#define NEREID_EXPLAIN_REPORTPARTS_H

#include "nereid/Explain/Report.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace nereid::explain {

/// What a launch is and what it runs on, without what it cost.
Report reportOf(const Subject &subject, const sim::TouchedMemory &memory,
                std::array<uint32_t, 3> grid, const Resources &resources,
                const Chip &chip);

/// The name of the kernel's file as the caller wrote it, where `file`, a whole
/// path as code has it, is that file; else `file`.
std::string fileAsNamed(const std::string &file, const Report &report);

/// The name of the array that has the address; empty: none.
std::string arrayAt(uint64_t address, const std::vector<Array> &arrays);

/// Where the global accesses of a source line begin.
class Beginnings {
public:
  /// Of an instruction: `remainders` has bit i set where one began i bytes past
  /// a multiple of 16.
  void add(uint64_t firstAddress, unsigned remainders, int64_t laneStride,
           unsigned laneBytes);
  /// Fills in `remainder` and `insideUnit`.
  void tell(AccessCost &cost, const Chip &chip) const;

private:
  std::optional<uint64_t> lowest;
  bool isUneven = false;
};

/// Instructions by file and line.
using InstructionsOfLines = std::map<std::pair<std::string, uint32_t>, double>;

/// Adds the lines, and puts lines and accesses into the order of their cost.
void addLines(const InstructionsOfLines &lines, Report &report);

/// Adds the bytes that the launch needs, moves and requests.
sim::Traffic addTraffic(const sim::TouchedMemory &memory,
                        const std::vector<Array> &arrays, Report &report);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_REPORTPARTS_H
