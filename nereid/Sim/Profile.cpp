//===- Profile.cpp - What instructions did to memory ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Profile.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nereid::sim {

void Counts::add(const Counts &other) {
  executed += other.executed;
  lanes += other.lanes;
  requests += other.requests;
  sharedRequests += other.sharedRequests;
  bytes += other.bytes;
  sectors += other.sectors;
  missed += other.missed;
  lines += other.lines;
  wavefronts += other.wavefronts;
  leastSectors += other.leastSectors;
  leastWavefronts += other.leastWavefronts;
  if (!firstAddress) {
    firstAddress = other.firstAddress;
    laneStride = other.laneStride;
  }
}

//===----------------------------------------------------------------------===//
// Bytes that were touched
//===----------------------------------------------------------------------===//

/// A bit for each byte, up to 64 MiB of bits; then for more bytes.
static uint64_t granuleOf(uint64_t bytes) {
  constexpr uint64_t mostBits = uint64_t{1} << 29;
  return std::bit_ceil(
      std::max<uint64_t>(1, (bytes + mostBits - 1) / mostBits));
}

Touched::Touched(uint64_t begin, uint64_t bytes)
    : begin(begin), end(begin + bytes), granule(granuleOf(bytes)),
      readBits{Bits(bytes / granule / 64 + 1), Bits(bytes / granule / 64 + 1)},
      writeBits{Bits(bytes / granule / 64 + 1),
                Bits(bytes / granule / 64 + 1)} {}

void Touched::mark(Bits &bits, uint64_t address, uint64_t bytes) {
  uint64_t first = (address - begin) / granule;
  uint64_t last = (address + bytes - 1 - begin) / granule;
  while (first <= last) {
    uint64_t inWord = std::min<uint64_t>(last - first + 1, 64 - first % 64);
    uint64_t mask = inWord == 64 ? ~uint64_t{0} : (uint64_t{1} << inWord) - 1;
    mask <<= first % 64;
    std::atomic<uint64_t> &word = bits[first / 64];
    if ((word.load(std::memory_order_relaxed) & mask) != mask) {
      word.fetch_or(mask, std::memory_order_relaxed);
    }
    first += inWord;
  }
}

/// Calls f with each word of bits.
template <typename F>
static void forEachWord(const auto &halves, Sample of, F f) {
  for (size_t i = 0; i < halves[0].size(); ++i) {
    uint64_t word = halves[0][i].load(std::memory_order_relaxed);
    f(of == Sample::EverySecond
          ? word
          : word | halves[1][i].load(std::memory_order_relaxed));
  }
}

uint64_t Touched::count(const Halves &halves, Sample of) const {
  uint64_t set = 0;
  forEachWord(halves, of,
              [&](uint64_t word) { set += uint64_t(std::popcount(word)); });
  return std::min(set * granule, end - begin);
}

uint64_t Touched::countPieces(const Halves &halves, uint64_t piece,
                              Sample of) const {
  if (granule > piece) {
    return count(halves, of); // of large arrays bits are nearly pieces
  }
  // The lowest bit of each piece, set where one of the piece's bits is.
  uint64_t bitsOfPiece = piece / granule, lowest = 0, pieces = 0;
  for (uint64_t bit = 0; bit < 64; bit += bitsOfPiece) {
    lowest |= uint64_t{1} << bit;
  }
  forEachWord(halves, of, [&](uint64_t value) {
    for (uint64_t shift = bitsOfPiece / 2; shift; shift /= 2) {
      value |= value >> shift;
    }
    pieces += uint64_t(std::popcount(value & lowest));
  });
  return pieces * piece;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

void Profile::begin(const Program &program,
                    std::vector<MemoryRange> allocations) {
  counts.assign(program.instructions.size(), Counts());
  timings = timingsOf(program);
  cycles = {};
  blocks = 0;
  touched.clear();
  for (const MemoryRange &range : allocations) {
    touched.push_back(
        std::make_unique<Touched>(range.begin, range.end - range.begin));
  }
}

void Profile::merge(std::span<const Counts> of, uint64_t moreBlocks,
                    const Cycles &moreCycles) {
  for (size_t i = 0; i < cycles.size(); ++i) {
    cycles[i] += moreCycles[i];
  }
  for (size_t i = 0; i < of.size(); ++i) {
    counts[i].add(of[i]);
  }
  blocks += moreBlocks;
}

/// A byte that k blocks of the grid touch is in a random share f of them with
/// 1 - (1 - f)^k: how much more all of the sample touched than half of it says
/// what k is. One block: twice as much, as of rows; all blocks: no more, as of
/// weights.
double Profile::ofGrid(uint64_t all, uint64_t everySecond) const {
  if (blocks == gridBlocks || !all) {
    return double(all);
  }
  double share = double(blocks) / double(gridBlocks);
  double half = double((blocks + 1) / 2) / double(gridBlocks);
  auto seen = [](double of, double k) { return 1 - std::pow(1 - of, k); };
  double growth = everySecond ? double(all) / double(everySecond) : 2;
  // Blocks of unequal work make disjoint ones look a little shared.
  double k = 1, most = double(gridBlocks);
  if (growth < 0.95 * share / half) {
    for (int step = 0; step < 60; ++step) {
      double middle = std::sqrt(k * most);
      bool growsMore = seen(share, middle) / seen(half, middle) > growth;
      (growsMore ? k : most) = middle;
    }
  }
  return double(all) / seen(share, k);
}

Traffic Profile::traffic(uint64_t fetchBytes) const {
  constexpr uint64_t sector = 32;
  Traffic traffic;
  for (const auto &one : touched) {
    auto add = [&](double &to, auto bytesOf) {
      to +=
          std::min(double(one->end - one->begin),
                   ofGrid(bytesOf(Sample::All), bytesOf(Sample::EverySecond)));
    };
    add(traffic.read, [&](Sample of) { return one->bytesRead(of); });
    add(traffic.written, [&](Sample of) { return one->bytesWritten(of); });
    add(traffic.movedRead,
        [&](Sample of) { return one->bytesReadBy(fetchBytes, of); });
    add(traffic.movedWritten,
        [&](Sample of) { return one->bytesWrittenBy(sector, of); });
  }
  return traffic;
}

Touched *Profile::touchedAt(uint64_t address) {
  auto next = std::upper_bound(
      touched.begin(), touched.end(), address,
      [](uint64_t value, const auto &range) { return value < range->begin; });
  if (next == touched.begin()) {
    return nullptr;
  }
  Touched *found = (--next)->get();
  return address < found->end ? found : nullptr;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

static constexpr uint64_t sectorBytes = 32, sectorsOfLine = 4, bankBytes = 4,
                          banks = 32;

uint64_t countGlobal(Counts &counts, const WarpAccess &access,
                     std::unordered_set<uint64_t> *cached) {
  std::array<uint64_t, lanes * 4> sectors;
  size_t count = 0;
  for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
    uint64_t at = access.addresses[size_t(std::countr_zero(mask))];
    uint64_t last = (at + access.bytes - 1) / sectorBytes;
    for (uint64_t sector = at / sectorBytes; sector <= last; ++sector) {
      sectors[count++] = sector;
    }
  }
  std::sort(sectors.begin(), sectors.begin() + long(count));
  auto end = std::unique(sectors.begin(), sectors.begin() + long(count));
  uint64_t bytes = uint64_t(std::popcount(access.mask)) * access.bytes;
  if (!counts.firstAddress) {
    auto first = size_t(std::countr_zero(access.mask));
    uint32_t others = access.mask & (access.mask - 1);
    counts.firstAddress = access.addresses[first];
    counts.laneStride =
        others ? int64_t(access.addresses[size_t(std::countr_zero(others))] -
                         counts.firstAddress)
               : 0;
  }
  ++counts.requests;
  counts.bytes += bytes;
  counts.sectors += uint64_t(end - sectors.begin());
  counts.leastSectors += (bytes + sectorBytes - 1) / sectorBytes;
  uint64_t missed = 0, lastLine = ~uint64_t{0};
  for (auto sector = sectors.begin(); sector != end; ++sector) {
    missed += !cached || cached->insert(*sector).second;
    counts.lines += *sector / sectorsOfLine != lastLine;
    lastLine = *sector / sectorsOfLine;
  }
  counts.missed += missed;
  return missed;
}

/// A pass serves so many lanes that they may take a word of each bank. In a
/// pass lanes with the same word share it.
void countShared(Counts &counts, const WarpAccess &access) {
  uint64_t words = (access.bytes + bankBytes - 1) / bankBytes;
  unsigned lanesOfPass = unsigned(lanes / words);
  for (unsigned first = 0; first < lanes; first += lanesOfPass) {
    std::array<std::array<uint64_t, lanes>, banks> wordsOf;
    std::array<unsigned, banks> used{};
    unsigned passes = 0;
    for (unsigned lane = first; lane < first + lanesOfPass; ++lane) {
      if (!((access.mask >> lane) & 1)) {
        continue;
      }
      for (uint64_t i = 0; i < words; ++i) {
        uint64_t word = access.addresses[lane] / bankBytes + i;
        auto bank = size_t(word % banks);
        auto *begin = wordsOf[bank].data(), *end = begin + used[bank];
        if (std::find(begin, end, word) == end) {
          *end = word;
          passes = std::max(passes, ++used[bank]);
        }
      }
    }
    counts.wavefronts += passes;
    counts.leastWavefronts += passes != 0;
  }
  ++counts.sharedRequests;
  counts.bytes += uint64_t(std::popcount(access.mask)) * access.bytes;
}

} // namespace nereid::sim
