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
AccessShadow::unordered(const std::vector<Touch> &touches, unsigned wave,
                        bool wrote) const {
  for (unsigned other = 0; other < touches.size(); ++other) {
    if (!knows(wave, other, touches[other].number)) {
      return Conflict{other, touches[other].instruction, wrote};
    }
  }
  return std::nullopt;
}

void AccessShadow::remember(std::vector<Touch> &touches, unsigned wave,
                            const Touch &touch) const {
  if (touches.empty()) {
    touches.resize(clocks.size());
  }
  touches[wave] = touch;
}

std::optional<AccessShadow::Conflict>
AccessShadow::access(uint64_t at, uint32_t bytes, unsigned wave,
                     uint32_t number, uint32_t instruction, Access access) {
  bool writes = access == Access::Write;
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
                     knows(wave, byte.writer, byte.write.number);
    if (!isOrdered) {
      return Conflict{byte.writer, byte.write.instruction, true};
    }
    if (isDense && access != Access::Atomic) {
      if (auto conflict = unordered(byte.updates, wave, true)) {
        return conflict;
      }
    }
    if (access != Access::Read) {
      if (auto conflict = unordered(byte.reads, wave, false)) {
        return conflict;
      }
    }
    Touch touch = {number, instruction};
    if (writes) {
      byte.reads.clear();
      byte.updates.clear();
      byte.write = touch;
      byte.writer = uint16_t(wave);
    } else if (isDense) {
      remember(access == Access::Read ? byte.reads : byte.updates, wave, touch);
    }
  }
  return std::nullopt;
}

} // namespace nereid::sim::amd
