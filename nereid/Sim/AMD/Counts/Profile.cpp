//===- Profile.cpp - What instructions did to memory ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Counts/Profile.h"

#include "nereid/Sim/AMD/LoadedProgram.h"

#include <algorithm>
#include <bit>

namespace nereid::sim::amd {

void Counts::add(const Counts &other) {
  executed += other.executed;
  lanes += other.lanes;
  requests += other.requests;
  sharedRequests += other.sharedRequests;
  bytes += other.bytes;
  halfLines += other.halfLines;
  lines += other.lines;
  leastHalfLines += other.leastHalfLines;
  leastLines += other.leastLines;
  passes += other.passes;
  leastPasses += other.leastPasses;
  remainders |= other.remainders;
  if (!firstAddress) {
    firstAddress = other.firstAddress;
    laneStride = other.laneStride;
  }
}

void Profile::begin(const Program &program,
                    std::span<const MemoryRange> allocations) {
  TouchedMemory::begin(allocations);
  counts.assign(program.instructions.size(), Counts());
}

void Profile::merge(std::span<const Counts> of) {
  for (size_t i = 0; i < of.size(); ++i) {
    counts[i].add(of[i]);
  }
  ++blocks;
}

/// gfx950 has 64 banks of 4 bytes; the others give one wave 32 at once.
AccessCounter::AccessCounter(const Program &program, Profile &profile)
    : counts(program.instructions.size()), profile(profile),
      isCdna(program.generation == Generation::Cdna),
      banks(program.target == "gfx950" ? 64 : 32) {}

void AccessCounter::addGlobal(unsigned lane, uint64_t address, uint32_t bytes,
                              bool reads, bool writes) {
  global.push_back({lane, address, bytes});
  if (Touched *touched = profile.touchedAt(address)) {
    if (reads) {
      touched->read(address, bytes, group);
    }
    if (writes) {
      touched->write(address, bytes, group);
    }
  }
}

void AccessCounter::addShared(unsigned lane, uint64_t address, uint32_t bytes,
                              bool reads, bool writes) {
  shared.push_back({lane, address, bytes});
  sharedReads = reads;
  sharedIsAtomic = reads && writes;
}

void AccessCounter::finish(uint32_t instruction, uint64_t active) {
  Counts &to = counts[instruction];
  ++to.executed;
  to.lanes += uint64_t(std::popcount(active));
  if (!global.empty()) {
    countGlobal(to);
    global.clear();
  }
  if (!shared.empty()) {
    countShared(to);
    shared.clear();
  }
}

/// How many pieces of `bytes` the accesses touch.
static uint64_t piecesOf(const auto &accesses, uint64_t bytes) {
  std::vector<uint64_t> pieces;
  for (const auto &one : accesses) {
    uint64_t last = (one.address + one.bytes - 1) / bytes;
    for (uint64_t piece = one.address / bytes; piece <= last; ++piece) {
      pieces.push_back(piece);
    }
  }
  std::ranges::sort(pieces);
  return uint64_t(std::ranges::unique(pieces).begin() - pieces.begin());
}

void AccessCounter::countGlobal(Counts &to) {
  constexpr uint64_t line = 128, halfLine = 64;
  if (!to.firstAddress) {
    to.firstAddress = global[0].address;
    to.laneStride =
        global.size() > 1 ? int64_t(global[1].address - global[0].address) : 0;
  }
  // Lanes that ask for the same need it once.
  std::vector<uint64_t> begins;
  uint64_t bytes = 0;
  for (const LaneAccess &one : global) {
    begins.push_back(one.address);
    to.remainders |= uint16_t(1u << (one.address % 16));
    bytes += one.bytes;
  }
  std::ranges::sort(begins);
  auto different =
      uint64_t(std::ranges::unique(begins).begin() - begins.begin());
  uint64_t needed = different * global[0].bytes;
  ++to.requests;
  to.bytes += bytes;
  to.halfLines += piecesOf(global, halfLine);
  to.lines += piecesOf(global, line);
  to.leastHalfLines += (needed + halfLine - 1) / halfLine;
  to.leastLines += (needed + line - 1) / line;
}

unsigned AccessCounter::passesOf(std::span<const LaneAccess> one) const {
  constexpr uint64_t bankBytes = 4;
  std::vector<uint64_t> words;
  for (const LaneAccess &access : one) {
    uint64_t last = (access.address + access.bytes - 1) / bankBytes;
    for (uint64_t word = access.address / bankBytes; word <= last; ++word) {
      words.push_back(word);
    }
  }
  if (!sharedIsAtomic) {
    std::ranges::sort(words);
    auto rest = std::ranges::unique(words);
    words.erase(rest.begin(), rest.end());
  }
  std::vector<unsigned> used(banks);
  unsigned passes = 0;
  for (uint64_t word : words) {
    passes = std::max(passes, ++used[word % banks]);
  }
  return passes;
}

/// Reads of 16 bytes take part in another order on a compute unit of 32 banks:
/// lanes 0 to 3 with 20 to 23, 4 to 7 with 16 to 19, 8 to 11 with 28 to 31, 12
/// to 15 with 24 to 27, and so on in the upper half (Composable Kernel, "LDS
/// bank conflicts").
static unsigned placeOfWideRead(unsigned lane) {
  constexpr unsigned fours[] = {0, 2, 4, 6, 3, 1, 7, 5};
  return (lane & 32) | fours[lane / 4 % 8] * 4 | (lane & 3);
}

void AccessCounter::countShared(Counts &to) {
  constexpr unsigned mostLanes = 64, mostAccesses = 2, wide = 16;
  constexpr uint32_t bankBytes = 4;
  uint32_t bytes = shared[0].bytes;
  unsigned words = (bytes + bankBytes - 1) / bankBytes;
  unsigned lanesOfPass = std::bit_floor(banks / words);
  bool isReordered =
      isCdna && banks == 32 && sharedReads && !sharedIsAtomic && bytes == wide;
  // Of an instruction with two addresses each has passes of its own.
  std::array<unsigned, mostLanes> seen = {};
  std::array<std::vector<LaneAccess>, mostAccesses * mostLanes> groups;
  for (const LaneAccess &one : shared) {
    unsigned which = std::min(seen[one.lane]++, mostAccesses - 1);
    unsigned place = isReordered ? placeOfWideRead(one.lane) : one.lane;
    groups[which * mostLanes + place / lanesOfPass].push_back(one);
    to.bytes += one.bytes;
  }
  ++to.sharedRequests;
  for (const auto &one : groups) {
    if (!one.empty()) {
      to.passes += passesOf(one);
      ++to.leastPasses;
    }
  }
}

} // namespace nereid::sim::amd
