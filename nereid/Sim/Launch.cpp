//===- Launch.cpp - The blocks of a grid ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Launch.h"

#include "nereid/Sim/Block.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_set>

namespace nereid::sim {

void Allocations::add(uint64_t address, uint64_t bytes) {
  std::unique_lock lock(mutex);
  ends[address] = address + bytes;
}

bool Allocations::remove(uint64_t address) {
  std::unique_lock lock(mutex);
  return ends.erase(address) != 0;
}

MemoryRange Allocations::find(uint64_t address) const {
  std::shared_lock lock(mutex);
  auto next = ends.upper_bound(address);
  if (next == ends.begin()) {
    return {};
  }
  --next;
  return address < next->second ? MemoryRange{next->first, next->second}
                                : MemoryRange{};
}

uint64_t Allocations::totalBytes() const {
  std::shared_lock lock(mutex);
  uint64_t total = 0;
  for (auto [begin, end] : ends) {
    total += end - begin;
  }
  return total;
}

std::vector<MemoryRange> Allocations::ranges() const {
  std::shared_lock lock(mutex);
  std::vector<MemoryRange> all;
  for (auto [begin, end] : ends) {
    all.push_back({begin, end});
  }
  return all;
}

static const char *kindText(Fault::Kind kind) {
  switch (kind) {
  case Fault::Kind::IllegalAddress:
    return "illegal memory access";
  case Fault::Kind::Misaligned:
    return "misaligned address";
  case Fault::Kind::Illegal:
    return "illegal instruction";
  case Fault::Kind::Barrier:
    return "misused barrier";
  case Fault::Kind::Trap:
    return "trap";
  case Fault::Kind::Deadlock:
    return "deadlock";
  case Fault::Kind::Race:
    return "race";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Which blocks run
//===----------------------------------------------------------------------===//

/// Without any pattern (the finaliser of splitmix64).
static uint64_t scrambled(uint64_t value) {
  value = (value + 1) * 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

std::array<uint32_t, 3> sampledPlace(const std::array<uint32_t, 3> &grid,
                                     uint64_t count, uint64_t i) {
  uint64_t all = uint64_t(grid[0]) * grid[1] * grid[2];
  uint64_t first = i * all / count, next = (i + 1) * all / count;
  i = first + scrambled(i) % (next - first);
  return {uint32_t(i % grid[0]), uint32_t(i / grid[0] % grid[1]),
          uint32_t(i / grid[0] / grid[1])};
}

uint64_t sampledNumber(uint64_t i) { return i ^ (scrambled(~(i / 2)) & 1); }

uint64_t sampleSize(const GridSample &sample, uint64_t all,
                    const std::function<uint64_t()> &costOfBlock) {
  constexpr uint64_t least = 16, mostCost = uint64_t{1} << 24;
  uint64_t most = sample.mostBlocks;
  if (!most || all <= std::min(most, least)) {
    return most ? std::min(all, most) : all;
  }
  uint64_t cost = costOfBlock();
  // A sample of few says less than one of many.
  constexpr uint64_t few = 8, share = 4;
  uint64_t whole = sample.wholeCost / (all > few * most ? share : 1);
  if (cost <= whole / all) {
    return all;
  }
  return std::min({all, most, std::max(mostCost / cost, least)});
}

namespace {

/// What a block costs the simulator: about as many instructions of a warp. A
/// product of matrix instructions is one for each of its elements.
uint64_t simulationCost(const LaunchRequest &request) {
  Profile profile;
  profile.begin(request.program, {});
  LaunchRequest alone = request;
  alone.profile = &profile;
  Block block(alone, 0);
  block.begin({request.grid[0] / 2, request.grid[1] / 2, request.grid[2] / 2},
              0);
  // One that takes longer than all may is only looked at so far.
  constexpr uint64_t mostTurns = 256;
  try {
    for (uint64_t turn = 0; turn < mostTurns && block.advance(); ++turn) {
    }
  } catch (const Fault &) {
    // It is reported when the grid runs.
  }
  uint64_t cost = 1;
  for (size_t i = 0; i < block.counts.size(); ++i) {
    constexpr uint64_t multiplicationsOfStep = 32;
    cost += block.counts[i].executed *
            (1 + profile.timings[i].multiplications / multiplicationsOfStep);
  }
  return cost;
}

/// The grid, and the first thing that went wrong in it.
class Grid {
public:
  explicit Grid(const LaunchRequest &request)
      : request(request),
        all(uint64_t(request.grid[0]) * request.grid[1] * request.grid[2]),
        count(sampleSize(request.sample, all,
                         [&] { return simulationCost(request); })) {
    if (request.profile) {
      request.profile->begin(request.program, request.memory.ranges());
      request.profile->gridBlocks = all;
    }
  }

  /// Blocks in order: one may wait for those in front of it, not for others.
  void runBlocks(unsigned worker) {
    Block block(request, worker);
    for (uint64_t i = next++; i < count && !hasEnded; i = next++) {
      if (!goesOn()) {
        hasEnded = true; // never taken back: another worker may have set it
      }
      block.begin(position(i), sampledNumber(i));
      while (!hasEnded && advance(block)) {
        if (!goesOn()) {
          hasEnded = true;
        }
      }
      if (!hasEnded) {
        block.addTime();
        merge(block);
      }
      ++ended;
    }
  }

  /// All of them in turns.
  void runTogether() {
    std::vector<std::unique_ptr<Block>> blocks;
    for (uint64_t i = 0; i < count; ++i) {
      blocks.push_back(std::make_unique<Block>(request, unsigned(i)));
      blocks.back()->begin(position(i), sampledNumber(i));
    }
    for (bool left = true; left && !hasEnded;) {
      left = false;
      for (auto &block : blocks) {
        left |= advance(*block);
      }
      if (left && !goesOn()) {
        hasEnded = true;
      }
    }
    if (hasEnded) {
      return;
    }
    for (auto &block : blocks) {
      block->addTime();
      merge(*block);
      ++ended;
    }
  }

  Status status() const {
    return hasFailed ? Status(ErrorCode::KernelFault,
                              request.program.name + ": " + failure)
                     : Status::success();
  }
  const uint64_t &size() const { return count; }

private:
  std::array<uint32_t, 3> position(uint64_t i) const {
    return sampledPlace(request.grid, count, i);
  }
  bool goesOn() {
    return !request.sample.goesOn || request.sample.goesOn(ended, count);
  }
  bool advance(Block &block) {
    try {
      return block.advance();
    } catch (const Fault &fault) {
      std::lock_guard lock(mutex);
      if (!hasFailed.exchange(true)) {
        failure = std::string(kindText(fault.kind)) + ": " + fault.message;
      }
      hasEnded = true;
      return false;
    }
  }

  /// Adds what the block has counted, which then begins at 0.
  void merge(Block &block) {
    if (request.profile) {
      std::lock_guard lock(mutex);
      request.profile->merge(block.counts, block.blocksRun, block.cycles);
      request.profile->mergeTurns(block.atomicTurns);
      block.forgetCounts();
    }
  }

  const LaunchRequest &request;
  const uint64_t all, count;
  std::atomic<uint64_t> next = 0, ended = 0;
  std::atomic<bool> hasFailed = false, hasEnded = false;
  std::mutex mutex;
  std::string failure;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which blocks read the same
//===----------------------------------------------------------------------===//

uint64_t ReadPlaces::placesOf(size_t reader, uint64_t begin,
                              uint64_t end) const {
  std::unordered_set<uint64_t> different;
  for (uint64_t block = begin; block < end; ++block) {
    if (uint64_t place = first[block * readers.size() + reader]) {
      different.insert(place);
    }
  }
  return different.size();
}

double ReadPlaces::bytesOf(uint64_t begin, uint64_t end) const {
  double bytes = 0;
  for (size_t i = 0; i < readers.size(); ++i) {
    bytes += double(placesOf(i, begin, end)) * readers[i].bytes;
  }
  return bytes;
}

double ReadPlaces::bytesOfWaves(uint64_t together) const {
  double bytes = 0;
  for (size_t i = 0; i < readers.size(); ++i) {
    uint64_t read = 0;
    for (uint64_t begin = 0; begin < blocks; begin += together) {
      read += placesOf(i, begin, std::min(begin + together, blocks));
    }
    bytes += double(placesOf(i, 0, blocks) == 1 ? 1 : read) * readers[i].bytes;
  }
  return bytes;
}

/// Instructions that have read what their block had not read before.
static std::vector<ReadPlaces::Reader> readersOf(const Profile &profile) {
  std::vector<ReadPlaces::Reader> readers;
  for (size_t i = 0; i < profile.counts.size(); ++i) {
    const Counts &counts = profile.counts[i];
    if (counts.readsMissed) {
      readers.push_back({uint32_t(i), double(counts.readsMissed) * 32 /
                                          double(profile.blocks)});
    }
  }
  return readers;
}

ReadPlaces findReadPlaces(const LaunchRequest &request) {
  // Grids that are known within a second or so.
  constexpr uint64_t mostBlocks = 1 << 14, mostInstructions = 20'000'000;
  constexpr unsigned turn = 64;
  constexpr double shared = 1.25; // read by blocks, for each byte of the grid
  const Profile &profile = *request.profile;
  uint64_t all = profile.gridBlocks;
  ReadPlaces places;
  if (!profile.blocks || all > mostBlocks) {
    return places;
  }
  places.readers = readersOf(profile);
  double asked = 0;
  for (const ReadPlaces::Reader &reader : places.readers) {
    asked += reader.bytes * double(all);
  }
  if (asked <= shared * profile.traffic().movedRead) {
    return places;
  }
  Profile apart;
  apart.begin(request.program, {});
  LaunchRequest alone = request;
  alone.profile = &apart;
  Block block(alone, 0);
  block.turn = turn;
  uint64_t mostTurns = mostInstructions / (all * block.warpCount() * turn) + 1;
  uint64_t width = request.grid[0], height = request.grid[1];
  auto requestsOf = [&](const ReadPlaces::Reader &reader) {
    return block.counts[reader.instruction].requests;
  };
  for (uint64_t i = 0; i < all; ++i) {
    block.begin({uint32_t(i % width), uint32_t(i / width % height),
                 uint32_t(i / width / height)},
                i);
    try {
      for (uint64_t had = 0; had < mostTurns && block.advance(); ++had) {
        if (std::all_of(places.readers.begin(), places.readers.end(),
                        requestsOf)) {
          break;
        }
      }
    } catch (const Fault &) {
      return {}; // of a block that waits for others
    }
    if (i == 0) { // what comes late in a block is left out
      std::erase_if(places.readers, [&](const ReadPlaces::Reader &reader) {
        return !requestsOf(reader);
      });
    }
    for (const ReadPlaces::Reader &reader : places.readers) {
      places.first.push_back(block.counts[reader.instruction].firstAddress);
    }
    block.forgetCounts();
  }
  places.blocks = all;
  return places;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

Status launch(const LaunchRequest &request) {
  Grid grid(request);
  if (request.isCooperative) {
    grid.runTogether();
    return grid.status();
  }
  auto workers = unsigned(std::min<uint64_t>(request.workers, grid.size()));
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < workers; ++i) {
    threads.emplace_back([&grid, i] { grid.runBlocks(i); });
  }
  grid.runBlocks(0);
  threads.clear();
  Profile *profile = request.profile;
  if (profile && request.sample.mostBlocks && profile->blocks == grid.size()) {
    profile->places = findReadPlaces(request);
  }
  return grid.status();
}

} // namespace nereid::sim
