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
  readsMissed += other.readsMissed;
  lines += other.lines;
  turns += other.turns;
  partialTurns += other.partialTurns;
  wavefronts += other.wavefronts;
  leastSectors += other.leastSectors;
  leastWavefronts += other.leastWavefronts;
  remainders |= other.remainders;
  if (!firstAddress) {
    firstAddress = other.firstAddress;
    laneStride = other.laneStride;
  }
}

//===----------------------------------------------------------------------===//
// Bytes that were touched
//===----------------------------------------------------------------------===//

SparseBits::SparseBits(uint64_t bits)
    : pages((bits + 64 * pageWords - 1) / (64 * pageWords)) {}

SparseBits::~SparseBits() {
  for (std::atomic<Page *> &page : pages) {
    delete page.load(std::memory_order_relaxed);
  }
}

void SparseBits::set(uint64_t word, uint64_t mask) {
  std::atomic<Page *> &slot = pages[word / pageWords];
  Page *page = slot.load(std::memory_order_acquire);
  if (!page) {
    auto made = std::make_unique<Page>();
    if (slot.compare_exchange_strong(page, made.get(),
                                     std::memory_order_acq_rel)) {
      page = made.release();
    }
  }
  std::atomic<uint64_t> &bits = (*page)[word % pageWords];
  if ((bits.load(std::memory_order_relaxed) & mask) != mask) {
    bits.fetch_or(mask, std::memory_order_relaxed);
  }
}

/// A bit for each byte, up to 64 MiB of bits; then for more bytes.
static uint64_t granuleOf(uint64_t bytes) {
  constexpr uint64_t mostBits = uint64_t{1} << 29;
  return std::bit_ceil(
      std::max<uint64_t>(1, (bytes + mostBits - 1) / mostBits));
}

Touched::Touched(uint64_t begin, uint64_t bytes)
    : begin(begin), end(begin + bytes), granule(granuleOf(bytes)),
      readBits{SparseBits(bytes / granule + 1),
               SparseBits(bytes / granule + 1)},
      writeBits{SparseBits(bytes / granule + 1),
                SparseBits(bytes / granule + 1)} {}

void Touched::mark(SparseBits &bits, uint64_t address, uint64_t bytes) {
  uint64_t first = (address - begin) / granule;
  uint64_t last = (address + bytes - 1 - begin) / granule;
  while (first <= last) {
    uint64_t inWord = std::min<uint64_t>(last - first + 1, 64 - first % 64);
    uint64_t mask = inWord == 64 ? ~uint64_t{0} : (uint64_t{1} << inWord) - 1;
    bits.set(first / 64, mask << first % 64);
    first += inWord;
  }
}

/// Calls f with each word of pages that have bits.
template <typename F>
static void forEachWord(const auto &halves, Sample of, F f) {
  for (size_t i = 0; i < halves[0].pageCount(); ++i) {
    const SparseBits::Page *even = halves[0].page(i);
    const SparseBits::Page *odd =
        of == Sample::All ? halves[1].page(i) : nullptr;
    for (size_t word = 0; (even || odd) && word < SparseBits::pageWords;
         ++word) {
      auto bits = [word](const SparseBits::Page *page) {
        return page ? (*page)[word].load(std::memory_order_relaxed) : 0;
      };
      f(bits(even) | bits(odd));
    }
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
  uint64_t bitsOfPiece = piece / granule, lowest = 0, pieces = 0;
  if (bitsOfPiece > 64) { // two words
    uint64_t number = 0, first = 0;
    forEachWord(halves, of, [&](uint64_t value) {
      bool isSecond = number++ % 2;
      pieces += isSecond && (first | value);
      first = isSecond ? 0 : value;
    });
    return (pieces + (first != 0)) * piece;
  }
  // The lowest bit of each piece, set where one of the piece's bits is.
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
  TouchedMemory::begin(allocations);
  counts.assign(program.instructions.size(), Counts());
  timings = timingsOf(program);
  cycles = {};
  atomicTurns.clear();
  places = {};
}

void TouchedMemory::begin(std::span<const MemoryRange> allocations) {
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

/// What is far apart is many sectors, and none of them has many turns.
static constexpr size_t mostTurnSectors = 1 << 20;

void Profile::mergeTurns(const std::unordered_map<uint64_t, uint64_t> &of) {
  for (auto [sector, turns] : of) {
    if (atomicTurns.size() < mostTurnSectors || atomicTurns.contains(sector)) {
      atomicTurns[sector] += turns;
    }
  }
}

double Profile::mostAtomicTurns() const {
  uint64_t most = 0;
  for (auto [sector, turns] : atomicTurns) {
    most = std::max(most, turns);
  }
  // A sector that a sample saw a few times is not one of the whole grid's.
  constexpr uint64_t often = 16;
  bool isAll = blocks == gridBlocks;
  return isAll || most >= often ? double(most) * double(gridBlocks) /
                                      double(std::max<uint64_t>(blocks, 1))
                                : 0;
}

/// A byte that k blocks of the grid touch is in a random share f of them with
/// 1 - (1 - f)^k: how much more all of the sample touched than half of it says
/// what k is. One block: twice as much, as of rows; all blocks: no more, as of
/// weights.
double TouchedMemory::ofGrid(uint64_t all, uint64_t everySecond) const {
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

/// Bytes of the allocation's arrays, in whole pieces; all of it where none is
/// known.
static double roomOf(const Touched &one, std::span<const MemoryRange> arrays,
                     uint64_t piece) {
  uint64_t room = 0;
  for (const MemoryRange &array : arrays) {
    if (array.begin >= one.begin && array.end <= one.end) {
      room +=
          (array.end + piece - 1) / piece * piece - array.begin / piece * piece;
    }
  }
  uint64_t all = one.end - one.begin;
  return double(room ? std::min(room, all) : all);
}

Traffic TouchedMemory::traffic(uint64_t fetchBytes,
                               std::span<const MemoryRange> arrays) const {
  constexpr uint64_t sector = 32;
  Traffic traffic;
  for (const auto &one : touched) {
    auto add = [&](double &to, uint64_t piece, auto bytesOf) {
      uint64_t seen = bytesOf(Sample::All);
      double told = ofGrid(seen, bytesOf(Sample::EverySecond));
      to += std::max(double(seen), std::min(roomOf(*one, arrays, piece), told));
    };
    add(traffic.read, 1, [&](Sample of) { return one->bytesRead(of); });
    add(traffic.written, 1, [&](Sample of) { return one->bytesWritten(of); });
    add(traffic.movedRead, fetchBytes,
        [&](Sample of) { return one->bytesReadBy(fetchBytes, of); });
    constexpr uint64_t line = 128;
    add(traffic.linesRead, line,
        [&](Sample of) { return one->bytesReadBy(line, of); });
    add(traffic.movedWritten, sector,
        [&](Sample of) { return one->bytesWrittenBy(sector, of); });
  }
  return traffic;
}

Touched *TouchedMemory::touchedAt(uint64_t address) {
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

/// How much of the sector the accesses from `begin` on have, which are sorted
/// and of so many bytes. Those that end in it are left behind.
static uint64_t coveredBytes(uint64_t sector, const uint64_t *&begin,
                             const uint64_t *end, uint64_t bytes) {
  uint64_t first = sector * sectorBytes, last = first + sectorBytes;
  uint64_t covered = 0, reached = first;
  for (const uint64_t *at = begin; at != end && *at < last; ++at) {
    uint64_t from = std::max(*at, reached), to = std::min(*at + bytes, last);
    covered += to > from ? to - from : 0;
    reached = std::max(reached, to);
    begin += *at + bytes <= last;
  }
  return covered;
}

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
  // Lanes that ask for the same need it once.
  std::array<uint64_t, lanes> begins;
  size_t different = 0;
  for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
    uint64_t at = access.addresses[size_t(std::countr_zero(mask))];
    counts.remainders |= uint16_t(1u << (at % 16));
    begins[different++] = at;
  }
  std::sort(begins.begin(), begins.begin() + long(different));
  auto lastBegin =
      std::unique(begins.begin(), begins.begin() + long(different));
  uint64_t needed = uint64_t(lastBegin - begins.begin()) * access.bytes;
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
  counts.leastSectors += (needed + sectorBytes - 1) / sectorBytes;
  uint64_t missed = 0, lastLine = ~uint64_t{0}, ofLine = 0, inPart = 0;
  auto finishLine = [&] {
    counts.turns += (ofLine + 1) / 2;
    counts.partialTurns += (inPart + 1) / 2;
    ofLine = inPart = 0;
  };
  const uint64_t *begin = begins.begin();
  for (auto *sector = sectors.begin(); sector != end; ++sector) {
    if (*sector / sectorsOfLine != lastLine) {
      finishLine();
      ++counts.lines;
      lastLine = *sector / sectorsOfLine;
    }
    uint64_t covered = coveredBytes(*sector, begin, lastBegin, access.bytes);
    if (!cached || cached->insert(*sector).second) {
      ++missed;
      ++ofLine;
      inPart += covered < sectorBytes;
    }
  }
  finishLine();
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

void countTurns(std::unordered_map<uint64_t, uint64_t> &turns,
                const WarpAccess &access) {
  std::array<uint64_t, lanes> words;
  size_t count = 0;
  for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
    words[count++] =
        access.addresses[size_t(std::countr_zero(mask))] / bankBytes;
  }
  std::sort(words.begin(), words.begin() + long(count));
  constexpr uint64_t wordsOfSector = sectorBytes / bankBytes;
  for (size_t first = 0; first < count;) {
    uint64_t sector = words[first] / wordsOfSector, most = 0;
    size_t next = first;
    while (next < count && words[next] / wordsOfSector == sector) {
      size_t same = next;
      while (same < count && words[same] == words[next]) {
        ++same;
      }
      most = std::max<uint64_t>(most, same - next);
      next = same;
    }
    turns[sector] += most;
    first = next;
  }
}

} // namespace nereid::sim
