//===- LaneOps.cpp - Moves between lanes and scalar registers -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"

#include <bit>

namespace nereid::sim::amd {

static uint32_t valueAt(const Wave &wave, const Operand &of, unsigned lane) {
  return of.kind == Operand::Kind::Vector ? wave.lane(of, 0, lane)
                                          : uint32_t(wave.readScalar(of));
}

/// Whatever the exec mask says; without an active lane, of lane 0.
static void readFirst(Wave &wave, const Instruction &instruction) {
  uint64_t exec = wave.exec();
  unsigned lane = exec ? unsigned(std::countr_zero(exec)) : 0;
  wave.writeScalar(instruction.to, valueAt(wave, instruction.from[0], lane));
}

static void readLane(Wave &wave, const Instruction &instruction) {
  unsigned lane = unsigned(wave.readScalar(instruction.from[1])) % wave.lanes;
  wave.writeScalar(instruction.to, valueAt(wave, instruction.from[0], lane));
}

static void writeLane(Wave &wave, const Instruction &instruction) {
  unsigned lane = unsigned(wave.readScalar(instruction.from[1])) % wave.lanes;
  wave.writeLane(instruction.to, 0, lane,
                 uint32_t(wave.readScalar(instruction.from[0])));
}

/// Bits of a mask below this lane, added to a number.
template <bool High>
static void countBelow(Wave &wave, const Instruction &instruction) {
  Lanes from[2];
  uint64_t valid = wave.exec();
  wave.readSource(instruction, 0, from[0], valid);
  wave.readSource(instruction, 1, from[1], valid);
  forMask(valid, [&](unsigned lane) {
    uint64_t below = (uint64_t{1} << lane) - 1;
    auto part = uint32_t(High ? below >> 32 : below);
    wave.writeLane(instruction.to, 0, lane,
                   uint32_t(from[1][lane]) +
                       uint32_t(std::popcount(uint32_t(from[0][lane]) & part)));
  });
}

/// Each lane of a row of 16 names a lane of the same row, or of the other row
/// of its pair, by four bits of two scalar words. Select bit 0: fetches from
/// inactive lanes; bit 1: those give 0.
template <bool OtherRow>
static void permuteRows(Wave &wave, const Instruction &instruction) {
  Lanes from;
  wave.readWords(instruction.from[0], 0, from);
  uint64_t selectors = uint32_t(wave.readScalar(instruction.from[1])) |
                       uint64_t(uint32_t(wave.readScalar(instruction.from[2])))
                           << 32;
  bool fetches = instruction.select & 1, boundZero = instruction.select & 2;
  uint64_t exec = wave.exec();
  forMask(exec, [&](unsigned lane) {
    unsigned source = (lane & ~15u) | (selectors >> (4 * (lane & 15)) & 15);
    if (OtherRow) {
      source ^= 16;
    }
    bool isThere = fetches || exec >> source & 1;
    if (isThere || boundZero) {
      wave.writeLane(instruction.to, 0, lane,
                     isThere ? uint32_t(from[source]) : 0);
    }
  });
}

/// The selectors are in a vector register, a lane's own.
template <bool OtherRow>
static void permuteRowsByLanes(Wave &wave, const Instruction &instruction) {
  Lanes from, selectors;
  wave.readWords(instruction.from[0], 0, from);
  wave.readWords(instruction.from[1], 0, selectors);
  bool fetches = instruction.select & 1, boundZero = instruction.select & 2;
  uint64_t exec = wave.exec();
  forMask(exec, [&](unsigned lane) {
    unsigned source = (lane & ~15u) | (selectors[lane] & 15);
    if (OtherRow) {
      source ^= 16;
    }
    bool isThere = fetches || exec >> source & 1;
    if (isThere || boundZero) {
      wave.writeLane(instruction.to, 0, lane,
                     isThere ? uint32_t(from[source]) : 0);
    }
  });
}

/// Rows of the first register change places with rows of the second.
template <unsigned Distance>
static void swapRows(Wave &wave, const Instruction &instruction) {
  Lanes first, second;
  wave.readWords(instruction.to, 0, first);
  wave.readWords(instruction.from[0], 0, second);
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    if (lane & Distance) {
      wave.writeLane(instruction.to, 0, lane,
                     uint32_t(second[lane ^ Distance]));
    } else {
      wave.writeLane(instruction.from[0], 0, lane,
                     uint32_t(first[lane ^ Distance]));
    }
  }
}

static void swapRegisters(Wave &wave, const Instruction &instruction) {
  forMask(wave.exec(), [&](unsigned lane) {
    uint32_t first = wave.lane(instruction.to, 0, lane);
    wave.writeLane(instruction.to, 0, lane,
                   wave.lane(instruction.from[0], 0, lane));
    wave.writeLane(instruction.from[0], 0, lane, first);
  });
}

static void doNothing(Wave &, const Instruction &) {}

std::span<const Semantics> laneFamily() {
  constexpr std::array<Type, 4> one = {Type::B32}, two = {Type::B32, Type::B32},
                                three = {Type::B32, Type::B32, Type::B32};
  static const std::vector<Semantics> rows = {
      custom("v_readfirstlane_b32", readFirst, Type::B32, one,
             LaneScalar | AllLanes),
      custom("v_readlane_b32", readLane, Type::B32, two, LaneScalar | AllLanes),
      custom("v_writelane_b32", writeLane, Type::B32, two, AllLanes),
      custom("v_mbcnt_lo_u32_b32", countBelow<false>, Type::B32, two),
      custom("v_mbcnt_hi_u32_b32", countBelow<true>, Type::B32, two),
      custom("v_permlane16_b32", permuteRows<false>, Type::B32, three),
      custom("v_permlanex16_b32", permuteRows<true>, Type::B32, three),
      custom("v_permlane16_var_b32", permuteRowsByLanes<false>, Type::B32, two),
      custom("v_permlanex16_var_b32", permuteRowsByLanes<true>, Type::B32, two),
      custom("v_permlane16_swap_b32", swapRows<16>, Type::B32, one),
      custom("v_permlane32_swap_b32", swapRows<32>, Type::B32, one),
      custom("v_swap_b32", swapRegisters, Type::B32, one),
      custom("v_nop", doNothing, Type::None, {}, NoOperands),
  };
  return rows;
}

} // namespace nereid::sim::amd
