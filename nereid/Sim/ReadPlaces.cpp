//===- ReadPlaces.cpp - Which blocks of a grid read the same --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/ReadPlaces.h"

#include "nereid/Sim/Block.h"

#include <algorithm>
#include <unordered_set>

namespace nereid::sim {

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

} // namespace nereid::sim
