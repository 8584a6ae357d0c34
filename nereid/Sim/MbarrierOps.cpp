//===- MbarrierOps.cpp - Barriers in shared memory ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.13.15, mbarrier. A try_wait suspends its thread until the phase
// is complete: the time after which a GPU gives up is never over, so that warps
// which wait for each other forever are seen.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AccessWords.h"
#include "nereid/Sim/Block.h"
#include "nereid/Sim/Lanes.h"

namespace nereid::sim {

namespace {
/// What detail[0] says of an instruction, a bit each.
enum Detail : uint64_t {
  IsRelaxed = 1,
  IsParity = 2,
  Suspends = 4,
  Drops = 8,
  Subtracts = 16, ///< complete_tx
  Arrives = 32,
  Expects = 64,
};
} // namespace

static bool is(const Instruction &instruction, Detail wanted) {
  return instruction.detail[0] & wanted;
}

static uint32_t addressOf(Warp &warp, const Instruction &instruction,
                          unsigned lane) {
  return warp.block.sharedAddress(warp, lane,
                                  warp.at(instruction.from[0])[lane] +
                                      uint64_t(instruction.offset));
}

static void init(Warp &warp, const Instruction &instruction) {
  forLanes(warp.active, [&](unsigned lane) {
    warp.block.barriers.init(warp, lane, addressOf(warp, instruction, lane),
                             uint32_t(warp.at(instruction.from[1])[lane]));
  });
}

static void inval(Warp &warp, const Instruction &instruction) {
  forLanes(warp.active, [&](unsigned lane) {
    warp.block.barriers.inval(warp, lane, addressOf(warp, instruction, lane));
  });
}

/// Bytes first, so that no phase ends between.
static void arrive(Warp &warp, const Instruction &instruction) {
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t at = addressOf(warp, instruction, lane);
    uint32_t number = instruction.from.size() > 1
                          ? uint32_t(warp.at(instruction.from[1])[lane])
                          : 1;
    MemoryBarriers &barriers = warp.block.barriers;
    bool expects = is(instruction, Expects);
    if (expects) {
      int64_t bytes = number;
      barriers.expect(warp, lane, at,
                      is(instruction, Subtracts) ? -bytes : bytes);
    }
    if (!is(instruction, Arrives)) {
      return;
    }
    uint64_t state =
        barriers.arrive(warp, lane, at, expects ? 1 : number,
                        !is(instruction, IsRelaxed), is(instruction, Drops));
    if (!instruction.to.empty() && instruction.to[0] != noIndex) {
      warp.at(instruction.to[0])[lane] = state;
    }
  });
}

static void wait(Warp &warp, const Instruction &instruction) {
  uint32_t past = 0, at = 0;
  forLanes(warp.active, [&](unsigned lane) {
    at = addressOf(warp, instruction, lane);
    bool isPast = warp.block.barriers.isPast(
        warp, lane, at, warp.at(instruction.from[1])[lane],
        is(instruction, IsParity), !is(instruction, IsRelaxed));
    past |= uint32_t(isPast) << lane;
  });
  if (!past && is(instruction, Suspends)) {
    warp.suspend(at);
    return;
  }
  writePredicate(warp, instruction.predicates[0], past);
  if (!past) {
    // It asks again, and a copy has to land some time.
    warp.block.engine.landFor(at);
  }
}

static uint64_t pendingOf(uint64_t state) {
  return state & lowBits(MemoryBarriers::pendingBits);
}

static void decodeMbarrier(Decoder &d) {
  std::string_view what = d.word(1);
  bool isWait = what == "test_wait" || what == "try_wait";
  for (size_t i = 2; i < d.statement->words.size(); ++i) {
    std::string_view word = d.word(i);
    bool isKnown = isAccessWord(word) || word == "shared::cluster" ||
                   word == "b64" || word == "parity" || word == "expect_tx" ||
                   word == "noComplete";
    if (!isKnown) {
      d.refuse();
    }
  }
  uint64_t detail = d.has("relaxed") ? IsRelaxed : 0;
  if (what == "init" || what == "inval") {
    d.address(0);
    if (what == "init") {
      d.made->from.push_back(d.source(1));
    }
    d.made->execute = what == "init" ? init : inval;
  } else if (isWait) {
    d.made->predicates = {d.predicate(d.operand(0))};
    d.address(1);
    d.made->from.push_back(d.source(2));
    detail |= d.has("parity") ? IsParity : 0;
    detail |= what == "try_wait" ? Suspends : 0;
    d.made->flow = what == "try_wait" ? Flow::Suspend : Flow::Next;
    d.made->execute = wait;
  } else if (what == "pending_count") {
    d.plain(mapLanes<pendingOf>);
  } else if (what == "expect_tx" || what == "complete_tx") {
    d.address(0);
    d.made->from.push_back(d.source(1));
    detail |= Expects | (what == "complete_tx" ? Subtracts : 0);
    d.made->execute = arrive;
  } else if (what == "arrive" || what == "arrive_drop") {
    d.made->to = {d.result(0)};
    d.address(1);
    if (d.operandCount() > 2) {
      d.made->from.push_back(d.source(2));
    }
    detail |= Arrives | (d.has("expect_tx") ? Expects : 0) |
              (what == "arrive_drop" ? Drops : 0);
    d.made->execute = arrive;
  } else {
    d.refuse();
  }
  d.made->detail[0] = detail;
}

void addMbarrierOps(DecodeTable &table) { table["mbarrier"] = decodeMbarrier; }

} // namespace nereid::sim
