//===- AccessShadow.cpp - Which wave touched memory -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/AccessShadow.h"

#include <algorithm>

namespace nereid::sim::amd {

void AccessShadow::begin() {
  for (auto &clock : clocks) {
    clock.assign(clocks.size(), 0);
  }
  sparse.clear();
  std::fill(dense.begin(), dense.end(), Byte());
}

void AccessShadow::meet(const std::vector<uint32_t> &done) {
  for (auto &clock : clocks) {
    for (size_t other = 0; other < done.size(); ++other) {
      clock[other] = std::max(clock[other], done[other]);
    }
  }
}

std::optional<AccessShadow::Conflict>
AccessShadow::access(uint64_t at, uint32_t bytes, unsigned wave,
                     uint32_t number, uint32_t instruction, bool writes,
                     bool isAtomic) {
  if (!isDense && !writes && sparse.empty()) {
    return std::nullopt;
  }
  for (uint64_t i = at; i < at + bytes; ++i) {
    if (!isDense && !writes && !sparse.contains(i)) {
      continue;
    }
    Byte &byte = isDense ? dense[i] : sparse[i];
    // In global memory several waves may store the same number to a place.
    bool isOrdered = byte.write.number == 0 || (!isDense && writes) ||
                     knows(wave, byte.writer, byte.write.number) ||
                     (isAtomic && byte.isAtomic);
    if (!isOrdered) {
      return Conflict{byte.writer, byte.write.instruction, true};
    }
    if (!writes) {
      if (!isDense) {
        continue;
      }
      if (byte.reads.empty()) {
        byte.reads.resize(clocks.size());
      }
      byte.reads[wave] = {number, instruction};
      continue;
    }
    for (unsigned other = 0; other < byte.reads.size(); ++other) {
      if (!knows(wave, other, byte.reads[other].number)) {
        return Conflict{other, byte.reads[other].instruction, false};
      }
    }
    byte.reads.clear();
    byte.write = {number, instruction};
    byte.writer = uint16_t(wave);
    byte.isAtomic = isAtomic;
  }
  return std::nullopt;
}

} // namespace nereid::sim::amd
