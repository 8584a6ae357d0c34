//===- MoveOps.cpp - Moves, packing, spaces -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.9, "Data Movement and Conversion": mov, cvta, isspacep. And the
// logic of predicates, which has opcodes of integers.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

namespace nereid::sim {

/// `detail[0]`: bits that the register has; `detail[1]`: added.
static void move(Warp &warp, const Instruction &instruction) {
  const LaneVector &from = warp.at(instruction.from[0]);
  LaneVector &to = warp.at(instruction.to[0]);
  forLanes(warp.active, [&](unsigned lane) {
    to[lane] = (from[lane] + instruction.detail[1]) & instruction.detail[0];
  });
}

/// Of a clock, which goes on: what it shows now.
static void moveClock(Warp &warp, const Instruction &instruction) {
  warp.readSpecial(instruction.from[0]);
  move(warp, instruction);
}

/// Elements of `detail[0]` bits, the first lowest.
static void pack(Warp &warp, const Instruction &instruction) {
  unsigned bits = unsigned(instruction.detail[0]);
  LaneVector &to = warp.at(instruction.to[0]);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t value = 0;
    for (size_t i = instruction.from.size(); i--;) {
      value =
          value << bits | (warp.at(instruction.from[i])[lane] & lowBits(bits));
    }
    to[lane] = value;
  });
}

static void unpack(Warp &warp, const Instruction &instruction) {
  unsigned bits = unsigned(instruction.detail[0]);
  const LaneVector &from = warp.at(instruction.from[0]);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t value = from[lane];
    for (uint32_t to : instruction.to) {
      if (to != noIndex) {
        warp.at(to)[lane] = value & lowBits(bits);
      }
      value = bits >= 64 ? 0 : value >> bits;
    }
  });
}

static void decodeMov(Decoder &d) {
  const Operand &to = d.operand(0), &from = d.operand(1);
  unsigned bits = d.lastWord().ends_with("64")   ? 64
                  : d.lastWord().ends_with("32") ? 32
                                                 : 16;
  if (to.kind == Operand::Kind::Vector) {
    for (const Operand *element : Decoder::elements(to)) {
      d.made->to.push_back(d.result(*element));
    }
    d.made->from = {d.source(from)};
    d.made->detail[0] = bits / d.made->to.size();
    d.made->execute = unpack;
  } else if (from.kind == Operand::Kind::Vector) {
    for (const Operand *element : Decoder::elements(from)) {
      d.made->from.push_back(d.source(*element));
    }
    d.made->to = {d.result(to)};
    d.made->detail[0] = bits / d.made->from.size();
    d.made->execute = pack;
  } else {
    bool isClock =
        from.kind == Operand::Kind::Special &&
        (from.name.starts_with("%clock") || from.name == "%globaltimer");
    d.plain(isClock ? moveClock : move);
    d.made->detail[0] = lowBits(bits);
  }
  for (uint32_t index : d.made->to) {
    if (index == noIndex && d.made->to.size() == 1) {
      d.refuse("nothing is written");
    }
  }
}

/// cvta[.to].space: the window's upper bits come or go.
static void decodeCvta(Decoder &d) {
  bool isTo = d.has("to");
  uint64_t window = d.has("shared") || d.has("shared::cta") ? sharedWindow
                    : d.has("local")                        ? localWindow
                    : d.has("param")                        ? paramWindow
                                                            : 0;
  if (!window && !d.has("global") && !d.has("const")) {
    d.refuse();
  }
  d.plain(move);
  d.made->detail[0] = lowBits(d.lastWord().ends_with("64") ? 64 : 32);
  d.made->detail[1] = isTo ? -window : window;
}

static void isInSpace(Warp &warp, const Instruction &instruction) {
  const LaneVector &from = warp.at(instruction.from[0]);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    uint64_t window = from[lane] & (sharedWindow | localWindow);
    mask |= uint32_t(window == instruction.detail[0]) << lane;
  }
  writePredicate(warp, instruction.predicates[0], mask);
}

static void decodeIsspacep(Decoder &d) {
  d.made->execute = isInSpace;
  d.made->predicates = {d.predicate(d.operand(0))};
  d.made->from = {d.source(1)};
  d.made->detail[0] = d.lastWord().starts_with("shared") ? sharedWindow
                      : d.lastWord() == "local"          ? localWindow
                                                         : 0;
}

void addMoveOps(DecodeTable &table) {
  table["mov"] = decodeMov;
  table["cvta"] = decodeCvta;
  table["isspacep"] = decodeIsspacep;
}

} // namespace nereid::sim
