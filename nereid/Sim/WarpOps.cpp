//===- WarpOps.cpp - What lanes do together -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.9.6 (shfl), 9.7.13 (vote, match, redux, activemask, elect).
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <algorithm>

namespace nereid::sim {

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

enum class Shuffle : uint64_t { Up, Down, Butterfly, Index };

/// from: value, b, c. The manual's pseudo-code.
static void shuffle(Warp &warp, const Instruction &instruction) {
  const LaneVector &value = warp.at(instruction.from[0]);
  const LaneVector &bs = warp.at(instruction.from[1]);
  const LaneVector &cs = warp.at(instruction.from[2]);
  LaneVector out{};
  uint32_t valid = 0;
  auto mode = Shuffle(instruction.detail[0]);
  forLanes(warp.active, [&](unsigned lane) {
    unsigned b = bs[lane] & 31, clamp = cs[lane] & 31,
             segment = (cs[lane] >> 8) & 31;
    unsigned most = (lane & segment) | (clamp & ~segment);
    unsigned least = lane & segment;
    int from = 0;
    bool isValid = false;
    switch (mode) {
    case Shuffle::Up:
      from = int(lane) - int(b);
      isValid = from >= int(most);
      break;
    case Shuffle::Down:
      from = int(lane + b);
      isValid = from <= int(most);
      break;
    case Shuffle::Butterfly:
      from = int(lane ^ b);
      isValid = from <= int(most);
      break;
    case Shuffle::Index:
      from = int(least | (b & ~segment));
      isValid = from <= int(most);
      break;
    }
    out[lane] = value[isValid ? unsigned(from) : lane];
    valid |= uint32_t(isValid) << lane;
  });
  if (instruction.to[0] != noIndex) {
    LaneVector &to = warp.at(instruction.to[0]);
    forLanes(warp.active, [&](unsigned lane) { to[lane] = out[lane]; });
  }
  writePredicate(warp, instruction.predicates[0], valid);
}

static void decodeShuffle(Decoder &d) {
  if (d.word(1) != "sync" || d.lastWord() != "b32") {
    d.refuse();
  }
  std::string_view mode = d.word(2);
  d.made->detail[0] = uint64_t(mode == "up"     ? Shuffle::Up
                               : mode == "down" ? Shuffle::Down
                               : mode == "bfly" ? Shuffle::Butterfly
                                                : Shuffle::Index);
  d.made->flow = Flow::Together;
  d.made->execute = shuffle;
  d.made->to = {d.result(0)};
  d.made->from = {d.source(1), d.source(2), d.source(3)};
  d.made->members = d.source(4);
  const Operand &to = d.operand(0);
  d.made->predicates = {to.second ? d.predicate(*to.second) : noIndex};
}

//===----------------------------------------------------------------------===//
// Votes
//===----------------------------------------------------------------------===//

enum class Vote : uint64_t { All, Any, Uniform, Ballot };

static void vote(Warp &warp, const Instruction &instruction) {
  uint32_t mask = instruction.detail[3] & 2
                      ? (instruction.detail[3] & 1 ? allLanes : 0)
                      : warp.predicates[instruction.predicates.back()];
  mask = instruction.detail[1] ? ~mask : mask;
  mask &= warp.active;
  switch (Vote(instruction.detail[0])) {
  case Vote::Ballot:
    forLanes(warp.active,
             [&](unsigned lane) { warp.at(instruction.to[0])[lane] = mask; });
    return;
  case Vote::All:
    return writePredicate(warp, instruction.predicates[0],
                          mask == warp.active ? allLanes : 0);
  case Vote::Any:
    return writePredicate(warp, instruction.predicates[0], mask ? allLanes : 0);
  case Vote::Uniform:
    return writePredicate(warp, instruction.predicates[0],
                          !mask || mask == warp.active ? allLanes : 0);
  }
}

static void decodeVote(Decoder &d) {
  if (d.word(1) != "sync") {
    d.refuse();
  }
  std::string_view mode = d.word(2);
  auto what = mode == "all"   ? Vote::All
              : mode == "any" ? Vote::Any
              : mode == "uni" ? Vote::Uniform
                              : Vote::Ballot;
  d.made->detail[0] = uint64_t(what);
  if (what == Vote::Ballot) {
    d.made->to = {d.result(0)};
  } else {
    d.made->predicates = {d.predicate(d.operand(0))};
  }
  const Operand &asked = d.operand(1);
  if (asked.kind == Operand::Kind::Number) {
    d.made->detail[3] = 2 | (asked.bits != 0);
  } else {
    d.made->predicates.push_back(d.predicate(asked));
  }
  d.made->detail[1] = asked.isNegated;
  d.made->flow = Flow::Together;
  d.made->members = d.source(2);
  d.made->execute = vote;
}

static void readActive(Warp &warp, const Instruction &instruction) {
  forLanes(warp.active, [&](unsigned lane) {
    warp.at(instruction.to[0])[lane] = warp.active;
  });
}

static void decodeActiveMask(Decoder &d) {
  d.made->to = {d.result(0)};
  d.made->execute = readActive;
}

/// The lowest lane is elected.
static void elect(Warp &warp, const Instruction &instruction) {
  unsigned leader = unsigned(std::countr_zero(warp.active));
  if (instruction.to[0] != noIndex) {
    forLanes(warp.active,
             [&](unsigned lane) { warp.at(instruction.to[0])[lane] = leader; });
  }
  writePredicate(warp, instruction.predicates[0], 1u << leader);
}

static void decodeElect(Decoder &d) {
  const Operand &to = d.operand(0);
  d.made->to = {d.result(to)};
  d.made->predicates = {to.second ? d.predicate(*to.second) : noIndex};
  d.made->flow = Flow::Together;
  d.made->members = d.source(1);
  d.made->execute = elect;
}

//===----------------------------------------------------------------------===//
// redux, match
//===----------------------------------------------------------------------===//

template <typename T>
static T reducedMinimum(T a, T b) {
  return std::min(a, b);
}
template <typename T>
static T reducedMaximum(T a, T b) {
  return std::max(a, b);
}
static uint32_t reducedSum(uint32_t a, uint32_t b) { return a + b; }
static uint32_t reducedAnd(uint32_t a, uint32_t b) { return a & b; }
static uint32_t reducedOr(uint32_t a, uint32_t b) { return a | b; }
static uint32_t reducedXor(uint32_t a, uint32_t b) { return a ^ b; }

template <typename T, T (*combine)(T, T)>
static void reduce(Warp &warp, const Instruction &instruction) {
  const LaneVector &from = warp.at(instruction.from[0]);
  T value = fromSlot<T>(from[unsigned(std::countr_zero(warp.active))]);
  forLanes(warp.active & (warp.active - 1), [&](unsigned lane) {
    value = combine(value, fromSlot<T>(from[lane]));
  });
  LaneVector &to = warp.at(instruction.to[0]);
  forLanes(warp.active, [&](unsigned lane) { to[lane] = toSlot<T>(value); });
}

static void decodeRedux(Decoder &d) {
  if (d.word(1) != "sync") {
    d.refuse();
  }
  std::string_view op = d.word(2), type = d.lastWord();
  bool isSigned = type == "s32";
  d.made->execute =
      op == "add"   ? reduce<uint32_t, reducedSum>
      : op == "and" ? reduce<uint32_t, reducedAnd>
      : op == "or"  ? reduce<uint32_t, reducedOr>
      : op == "xor" ? reduce<uint32_t, reducedXor>
      : op == "min" ? (isSigned ? reduce<int32_t, reducedMinimum<int32_t>>
                                : reduce<uint32_t, reducedMinimum<uint32_t>>)
      : op == "max" ? (isSigned ? reduce<int32_t, reducedMaximum<int32_t>>
                                : reduce<uint32_t, reducedMaximum<uint32_t>>)
                    : nullptr;
  if (!d.made->execute || type == "f32") {
    d.refuse();
  }
  d.made->to = {d.result(0)};
  d.made->from = {d.source(1)};
  d.made->members = d.source(2);
  d.made->flow = Flow::Together;
}

/// match.any: the lanes with the same value.
static void matchAny(Warp &warp, const Instruction &instruction) {
  const LaneVector from = warp.at(instruction.from[0]);
  uint64_t bits = instruction.detail[0];
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t mask = 0;
    forLanes(warp.active, [&](unsigned other) {
      mask |= uint32_t((from[lane] & bits) == (from[other] & bits)) << other;
    });
    warp.at(instruction.to[0])[lane] = mask;
  });
}

static void decodeMatch(Decoder &d) {
  if (d.word(1) != "any" || d.word(2) != "sync") {
    d.refuse();
  }
  d.made->detail[0] = d.lastWord() == "b64" ? ~uint64_t{0} : ~uint32_t{0};
  d.made->to = {d.result(0)};
  d.made->from = {d.source(1)};
  d.made->members = d.source(2);
  d.made->flow = Flow::Together;
  d.made->execute = matchAny;
}

void addWarpOps(DecodeTable &table) {
  table["shfl"] = decodeShuffle;
  table["vote"] = decodeVote;
  table["activemask"] = decodeActiveMask;
  table["elect"] = decodeElect;
  table["redux"] = decodeRedux;
  table["match"] = decodeMatch;
}

} // namespace nereid::sim
