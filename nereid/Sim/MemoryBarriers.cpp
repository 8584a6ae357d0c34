//===- MemoryBarriers.cpp - Barriers in shared memory ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/MemoryBarriers.h"

#include "nereid/Sim/Block.h"

#include <algorithm>

namespace nereid::sim {

static constexpr uint32_t barrierBytes = 8;
/// Of arrivals, and of bytes in either direction.
static constexpr int64_t mostPending = (1 << MemoryBarriers::pendingBits) - 1;

static std::string barrierText(uint32_t at) {
  char text[48];
  std::snprintf(text, sizeof(text), "the barrier at 0x%x", at);
  return text;
}

static void raise(Cycles &to, const Cycles &from) {
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = std::max(to[i], from[i]);
  }
}

bool MemoryBarriers::overlap(uint32_t at, uint32_t bytes) const {
  auto next = barriers.lower_bound(at);
  if (next != barriers.end() && next->first < at + bytes) {
    return true;
  }
  return next != barriers.begin() && std::prev(next)->first + barrierBytes > at;
}

void MemoryBarriers::init(Warp &warp, unsigned lane, uint32_t at,
                          uint32_t count) {
  if (at % barrierBytes) {
    block.fault(warp, lane, Fault::Kind::Misaligned,
                barrierText(at) + " is not aligned to 8 bytes");
  }
  if (overlap(at, barrierBytes)) {
    block.fault(warp, lane, Fault::Kind::Barrier,
                barrierText(at) +
                    " is there already: mbarrier.inval is missing");
  }
  // The bytes are written, like any.
  block.resolve(warp, lane, at, barrierBytes, Space::Shared, Access::Write);
  if (!count || count > mostPending) {
    block.fault(warp, lane, Fault::Kind::Barrier,
                barrierText(at) + " of " + std::to_string(count) +
                    " arrivals; 1 to 1048575 are possible");
  }
  Barrier made;
  made.count = made.pending = count;
  if (block.shadow) {
    made.made = block.shadow->stamp(warp.index);
  }
  barriers[at] = made;
}

MemoryBarriers::Barrier &MemoryBarriers::find(Warp &warp, unsigned lane,
                                              uint32_t at) {
  auto found = barriers.find(at);
  if (found == barriers.end()) {
    block.fault(warp, lane, Fault::Kind::Barrier,
                barrierText(at) + " is not there: mbarrier.init has not run");
  }
  Barrier &barrier = found->second;
  if (block.shadow && !block.shadow->knows(warp.index, barrier.made) &&
      barrier.made.agent != warp.index) {
    block.fault(warp, lane, Fault::Kind::Race,
                "warp " + std::to_string(warp.index) + " uses " +
                    barrierText(at) + ", which warp " +
                    std::to_string(barrier.made.agent) +
                    " has made without a barrier between");
  }
  return barrier;
}

void MemoryBarriers::inval(Warp &warp, unsigned lane, uint32_t at) {
  find(warp, lane, at);
  barriers.erase(at);
}

void MemoryBarriers::completeIfDone(uint32_t at, Barrier &barrier) {
  if (barrier.pending || barrier.bytes) {
    return;
  }
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.completed = barrier.arrived;
  if (block.shadow) {
    block.shadow->complete(at);
  }
}

uint64_t MemoryBarriers::arrive(Warp &warp, unsigned lane, uint32_t at,
                                uint32_t count, bool releases, bool drops) {
  Barrier &barrier = find(warp, lane, at);
  uint64_t state = barrier.phase << pendingBits | barrier.pending;
  if (!count || count > barrier.pending) {
    block.fault(
        warp, lane, Fault::Kind::Barrier,
        (count == 1 ? "an arrival" : std::to_string(count) + " arrivals") +
            " at " + barrierText(at) + ", whose " + describe(at));
  }
  if (block.shadow && releases) {
    block.shadow->arrive(at, warp.index);
  }
  if (warp.clock) {
    raise(barrier.arrived, warp.clock->now());
  }
  barrier.pending -= count;
  barrier.count -= drops ? count : 0;
  completeIfDone(at, barrier);
  return state;
}

void MemoryBarriers::expect(Warp &warp, unsigned lane, uint32_t at,
                            int64_t bytes) {
  Barrier &barrier = find(warp, lane, at);
  barrier.bytes += bytes;
  if (std::abs(barrier.bytes) > mostPending) {
    block.fault(warp, lane, Fault::Kind::Barrier,
                barrierText(at) +
                    " counts to 1048575 bytes, and would wait "
                    "for " +
                    std::to_string(barrier.bytes));
  }
}

bool MemoryBarriers::isPast(Warp &warp, unsigned lane, uint32_t at,
                            uint64_t phase, bool isParity, bool acquires) {
  Barrier &barrier = find(warp, lane, at);
  if (isParity && phase > 1) {
    block.fault(warp, lane, Fault::Kind::Barrier,
                "a parity of " + std::to_string(phase) + "; 0 or 1");
  }
  bool isPast = isParity ? (barrier.phase & 1) != phase
                         : barrier.phase > phase >> pendingBits;
  if (isPast && acquires && block.shadow) {
    block.shadow->observe(at, warp.index);
  }
  if (isPast && warp.clock) {
    warp.clock->waitUntil(barrier.completed);
  }
  return isPast;
}

void MemoryBarriers::fenceInit(unsigned warp) {
  for (auto &[at, barrier] : barriers) {
    barrier.isFenced |= barrier.made.agent == warp;
  }
}

void MemoryBarriers::checkSeenByEngine(Warp &warp, unsigned lane, uint32_t at) {
  Barrier &barrier = find(warp, lane, at);
  if (block.shadow && !barrier.isFenced &&
      !block.shadow->knowsFenced(warp.index, barrier.made)) {
    block.fault(warp, lane, Fault::Kind::Race,
                "the copy engine may not see " + barrierText(at) +
                    ": no fence.mbarrier_init and no fence.proxy.async "
                    "after its mbarrier.init");
  }
}

void MemoryBarriers::land(uint32_t at, uint32_t bytes, const Cycles &time) {
  auto found = barriers.find(at);
  if (found == barriers.end()) {
    throw Fault{Fault::Kind::Barrier, "a copy lands, and " + barrierText(at) +
                                          " is not there any more"};
  }
  Barrier &barrier = found->second;
  raise(barrier.arrived, time);
  barrier.bytes -= bytes;
  completeIfDone(at, barrier);
}

std::string MemoryBarriers::describe(uint32_t at) const {
  auto found = barriers.find(at);
  if (found == barriers.end()) {
    return "no barrier";
  }
  const Barrier &barrier = found->second;
  std::string text = "phase " + std::to_string(barrier.phase) + " lacks " +
                     std::to_string(barrier.pending) + " of " +
                     std::to_string(barrier.count) + " arrivals";
  if (barrier.bytes > 0) {
    text += " and " + std::to_string(barrier.bytes) + " bytes";
  } else if (barrier.bytes < 0) {
    text += ", and " + std::to_string(-barrier.bytes) +
            " bytes more have landed than it expects";
  }
  return text;
}

} // namespace nereid::sim
