//===- DataRegisters.cpp - What is computed from loaded values ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/DataRegisters.h"

#include "nereid/Explain/Work.h"

#include <algorithm>

namespace nereid::explain {

/// Does it read memory? What lies in shared memory is taken for data as well.
static bool isLoad(const std::string &opcode) {
  return (opcode.starts_with("ld.") && !opcode.starts_with("ld.param")) ||
         opcode.starts_with("atom.") || opcode.starts_with("ldmatrix.");
}

DataRegisters::DataRegisters(const sim::Program &program) : program(program) {
  auto set = [&](uint32_t vector) {
    if (vector == sim::noIndex) {
      return false;
    }
    isOfData.resize(std::max(isOfData.size(), size_t(vector) + 1));
    bool isNew = !isOfData[vector];
    isOfData[vector] = true;
    return isNew;
  };
  auto isSet = [&](uint32_t vector) {
    return vector < isOfData.size() && isOfData[vector];
  };
  std::vector<bool> loads;
  for (const sim::Statement &statement : program.statements) {
    loads.push_back(isLoad(opcodeOf(statement)));
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      const sim::Instruction &one = program.instructions[i];
      if (loads[i] || std::any_of(one.from.begin(), one.from.end(), isSet)) {
        for (uint32_t to : one.to) {
          changes |= set(to);
        }
      }
    }
  }
}

bool DataRegisters::hasAddressOf(size_t statement) const {
  const std::vector<uint32_t> &from = program.instructions[statement].from;
  return !from.empty() && from[0] < isOfData.size() && isOfData[from[0]];
}

} // namespace nereid::explain
