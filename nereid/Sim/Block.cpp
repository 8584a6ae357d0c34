//===- Block.cpp - Warps in turn, and what they may touch -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Block.h"

#include <algorithm>
#include <chrono>

namespace nereid::sim {

Block::Block(const LaunchRequest &launch, unsigned worker)
    : launch(launch), worker(worker), shared(launch.sharedBytes),
      random(launch.seed) {
  for (unsigned i = 0; i < warpCount(); ++i) {
    warps.push_back(std::make_unique<Warp>(*this, i));
    order.push_back(i);
  }
  if (launch.checksRaces) {
    shadow = std::make_unique<SharedShadow>(launch.sharedBytes,
                                            unsigned(warpCount()));
  }
  if (launch.profile) {
    counts.resize(launch.program.instructions.size());
  }
}

void Block::count(const Warp &warp, const WarpAccess &access, Space space,
                  Access kind) {
  Counts &to = counts[warp.current];
  if (space == Space::Generic) {
    uint64_t any = access.addresses[size_t(std::countr_zero(access.mask))];
    space = any & sharedWindow  ? Space::Shared
            : any & localWindow ? Space::Local
                                : Space::Global;
  }
  if (space == Space::Shared) {
    uint64_t before = to.wavefronts;
    countShared(to, access);
    seen.passes = to.wavefronts - before;
    return;
  }
  if (space != Space::Global) {
    return;
  }
  // What a block reads again is in the first-level cache, unless it was
  // copied past that.
  bool isRead = kind == Access::Read;
  bool isCopy =
      launch.profile->timings[warp.current].kind == Timing::Kind::Copy;
  uint64_t missed =
      countGlobal(to, access, isRead && !isCopy ? &readSectors : nullptr);
  to.readsMissed += isRead ? missed : 0;
  seen.isNew = kind != Access::Write && missed;
  if (kind == Access::Atomic) {
    countTurns(atomicTurns, access);
  }
  for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
    uint64_t at = access.addresses[size_t(std::countr_zero(mask))];
    if (Touched *touched = launch.profile->touchedAt(at)) {
      if (kind != Access::Write) {
        touched->read(at, access.bytes, number);
      }
      if (kind != Access::Read) {
        touched->write(at, access.bytes, number);
      }
    }
  }
}

void Block::begin(std::array<uint32_t, 3> place, uint64_t ofRunning) {
  position = place;
  number = ofRunning;
  ++blocksRun;
  // Not what the block before left: a NaN in every format.
  std::fill(shared.begin(), shared.end(), 0xff);
  if (shadow) {
    shadow->begin();
  }
  barriers.begin();
  engine.begin();
  freeRegisters = 0;
  arrived = {};
  readSectors.clear();
  for (auto &warp : warps) {
    warp->begin();
  }
}

void Block::addTime() {
  Cycles last = {};
  for (auto &warp : warps) {
    for (size_t i = 0; warp->clock && i < last.size(); ++i) {
      last[i] = std::max(last[i], warp->clock->now()[i]);
    }
  }
  for (size_t i = 0; i < last.size(); ++i) {
    cycles[i] += last[i];
  }
}

void Block::forgetCounts() {
  std::fill(counts.begin(), counts.end(), Counts());
  atomicTurns.clear();
  blocksRun = 0;
  cycles = {};
}

bool Block::advance() {
  bool ran = false, left = false;
  uint64_t before = instructions;
  if (launch.seed) {
    std::shuffle(order.begin(), order.end(), random);
  }
  for (unsigned i : order) {
    Warp &warp = *warps[i];
    if (!warp.hasEnded() && !warp.isAtBarrier()) {
      ran |= warp.run(turn);
    }
    left |= !warp.hasEnded();
  }
  if (!left) {
    finish();
    return false;
  }
  // One that spins must not keep others at their barrier.
  bool mayRun = ran && instructions - before < turn;
  constexpr uint64_t oneOf = 4; // with a seed copies may land before they must
  if (launch.seed && random() % oneOf == 0 && engine.landOne(&random)) {
    return true;
  }
  if (!mayRun && !passBarriers() && !ran &&
      !engine.landOne(launch.seed ? &random : nullptr)) {
    reportDeadlock();
  }
  return true;
}

void Block::finish() {
  engine.finish();
  for (auto &warp : warps) {
    const Warp &first = *warps[warp->index / 4 * 4];
    if (warp->registerChanges.size() != first.registerChanges.size()) {
      throw Fault{Fault::Kind::Illegal,
                  "warps " + std::to_string(first.index) + " and " +
                      std::to_string(warp->index) +
                      " of one warpgroup have not run the same setmaxnreg"};
    }
  }
}

/// What a named barrier is among those in memory, after all their addresses.
static uint32_t shadowOf(unsigned named) { return 0xffffff00 + named; }

void Block::arriveAt(unsigned barrier, uint32_t threads, const Warp &warp) {
  arrived[barrier].threads += lanes;
  arrived[barrier].wanted = threads;
  if (shadow) {
    shadow->arrive(shadowOf(barrier), warp.index);
  }
}

bool Block::passBarrier(unsigned id) {
  uint32_t waiting = arrived[id].threads, living = 0;
  uint32_t wanted = arrived[id].wanted;
  for (auto &warp : warps) {
    auto threads = uint32_t(std::popcount(warp->living));
    living += warp->hasEnded() ? 0 : threads;
    if (warp->isAtBarrier() && warp->barrierId == id) {
      waiting += lanes;
      wanted = warp->barrierThreads;
    }
  }
  bool isWhole = !wanted;
  wanted = wanted ? wanted : (living + lanes - 1) / lanes * lanes;
  if (!waiting || waiting < wanted) {
    return false;
  }
  Cycles last = {};
  for (auto &warp : warps) {
    if (warp->clock && warp->isAtBarrier() && warp->barrierId == id) {
      for (size_t i = 0; i < last.size(); ++i) {
        last[i] = std::max(last[i], warp->clock->now()[i]);
      }
    }
  }
  // What has ended came before a barrier of all.
  std::vector<unsigned> met;
  for (auto &warp : warps) {
    if (warp->hasEnded() && isWhole) {
      met.push_back(warp->index);
    }
    if (warp->isAtBarrier() && warp->barrierId == id) {
      met.push_back(warp->index);
      warp->leaveBarrier();
      if (warp->clock) {
        warp->clock->waitUntil(last);
      }
    }
  }
  if (shadow && arrived[id].threads) {
    shadow->complete(shadowOf(id));
    for (unsigned warp : met) {
      shadow->observe(shadowOf(id), warp);
    }
  }
  if (shadow) {
    shadow->meet(met);
  }
  arrived[id] = {};
  return true;
}

bool Block::passBarriers() {
  bool passed = false;
  for (unsigned id = 0; id < 16; ++id) {
    passed |= passBarrier(id);
  }
  return passed;
}

void Block::reportDeadlock() const {
  std::string message = "warps wait for warps that do not come:";
  for (const auto &warp : warps) {
    if (warp->hasEnded()) {
      continue;
    }
    message += "\n  warp " + std::to_string(warp->index);
    if (warp->isAtBarrier()) {
      message += " at barrier " + std::to_string(warp->barrierId) + ", " +
                 launch.program.describe(warp->current);
    } else {
      message += ":" + warp->places();
    }
  }
  throw Fault{Fault::Kind::Deadlock, message};
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void Block::checkWarpgroup(const Warp &warp) const {
  size_t next = warp.registerChanges.size();
  unsigned first = warp.index / 4 * 4;
  for (unsigned i = first; i < first + 4; ++i) {
    bool isThere = i < warps.size();
    bool isOther = isThere && warps[i]->registerChanges.size() > next &&
                   warps[i]->registerChanges[next] != warp.current;
    if (!isThere || isOther) {
      fault(warp, Fault::Kind::Illegal,
            isThere ? "the warps of a warpgroup run different setmaxnreg"
                    : "a warpgroup of less than four warps");
    }
  }
}

bool Block::takeRegisters(Warp &warp, uint32_t wanted) {
  if (wanted > warp.registers + freeRegisters / lanes) {
    return false;
  }
  freeRegisters += warp.registers * lanes;
  freeRegisters -= wanted * lanes;
  warp.registers = wanted;
  return true;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string tuple(const std::array<uint32_t, 3> &value) {
  return "(" + std::to_string(value[0]) + ", " + std::to_string(value[1]) +
         ", " + std::to_string(value[2]) + ")";
}

void Block::fault(const Warp &warp, Fault::Kind kind,
                  const std::string &what) const {
  throw Fault{kind, launch.program.describe(warp.current) + ": " + what +
                        ", warp " + std::to_string(warp.index) + " of block " +
                        tuple(position)};
}

void Block::fault(const Warp &warp, unsigned lane, Fault::Kind kind,
                  const std::string &what) const {
  throw Fault{kind, launch.program.describe(warp.current) + ": " + what +
                        ", thread " +
                        std::to_string(warp.index * lanes + lane) +
                        " of block " + tuple(position)};
}

std::string hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

static std::string accessText(Access access, uint32_t bytes) {
  const char *verb = access == Access::Read    ? "a read"
                     : access == Access::Write ? "a write"
                                               : "an atomic operation";
  return std::string(verb) + " of " + std::to_string(bytes) +
         (bytes == 1 ? " byte" : " bytes");
}

unsigned char *Block::sharedBytes(uint64_t address, uint32_t bytes) const {
  if (address > shared.size() || bytes > shared.size() - address) {
    return nullptr;
  }
  return const_cast<unsigned char *>(shared.data()) + address;
}

bool Block::isGlobal(uint64_t address, uint64_t bytes) {
  if (!recent.contains(address, bytes)) {
    recent = launch.memory.find(address);
  }
  return recent.contains(address, bytes);
}

uint32_t Block::sharedAddress(Warp &warp, unsigned lane,
                              uint64_t address) const {
  uint64_t at = address & ~sharedWindow;
  if (at > UINT32_MAX) {
    fault(warp, lane, Fault::Kind::IllegalAddress,
          hexadecimal(address) + " is no address of shared memory");
  }
  return uint32_t(at);
}

unsigned char *Block::resolveAny(Warp &warp, unsigned lane, uint64_t address,
                                 uint32_t bytes, Space space, Access access) {
  if (address & (bytes - 1)) {
    fault(warp, lane, Fault::Kind::Misaligned,
          accessText(access, bytes) + " at " + hexadecimal(address) +
              ", which is no multiple");
  }
  if (space == Space::Generic) {
    space = address & sharedWindow  ? Space::Shared
            : address & localWindow ? Space::Local
            : address & paramWindow ? Space::Param
                                    : Space::Global;
    address &= ~(sharedWindow | localWindow | paramWindow);
  }
  if (space == Space::Param) {
    bool isThere = address + bytes <= launch.parameters.size();
    if (!isThere || access != Access::Read) {
      fault(warp, lane, Fault::Kind::IllegalAddress,
            accessText(access, bytes) + " of parameters at " +
                hexadecimal(address));
    }
    return const_cast<unsigned char *>(launch.parameters.data()) + address;
  }
  if (space == Space::Global) {
    if (!isGlobal(address, bytes)) {
      fault(warp, lane, Fault::Kind::IllegalAddress,
            accessText(access, bytes) + " at " + hexadecimal(address) +
                ", where no memory is allocated");
    }
    return reinterpret_cast<unsigned char *>(address);
  }
  if (space == Space::Local) {
    if (address + bytes > launch.program.localBytes) {
      fault(warp, lane, Fault::Kind::IllegalAddress,
            accessText(access, bytes) + " of local memory at " +
                hexadecimal(address) + ", of " +
                std::to_string(launch.program.localBytes) + " bytes");
    }
    return &warp.local[size_t(lane) * launch.program.localBytes + address];
  }
  unsigned char *found = sharedBytes(address, bytes);
  if (!found) {
    fault(warp, lane, Fault::Kind::IllegalAddress,
          accessText(access, bytes) + " of shared memory at " +
              hexadecimal(address) + ", of " + std::to_string(shared.size()) +
              " bytes");
  }
  if (!barriers.isEmpty() && barriers.overlap(uint32_t(address), bytes)) {
    fault(warp, lane, Fault::Kind::Barrier,
          accessText(access, bytes) + " of the barrier in its bytes at " +
              hexadecimal(address) + ": mbarrier.inval is missing");
  }
  if (shadow) {
    bool isAtomic = access == Access::Atomic;
    auto at = uint32_t(address);
    auto wrong = access == Access::Read
                     ? shadow->read(at, bytes, warp.index)
                     : shadow->write(at, bytes, warp.index, isAtomic);
    if (wrong) {
      fault(warp, lane, Fault::Kind::Race, *wrong);
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

uint64_t Block::valueOf(Special special, unsigned warp, unsigned lane) const {
  const auto &shape = launch.threads;
  uint32_t thread = warp * lanes + lane;
  switch (special) {
  case Special::TidX:
    return thread % shape[0];
  case Special::TidY:
    return thread / shape[0] % shape[1];
  case Special::TidZ:
    return thread / shape[0] / shape[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return shape[size_t(special) - size_t(Special::NtidX)];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return position[size_t(special) - size_t(Special::CtaidX)];
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return launch.grid[size_t(special) - size_t(Special::NctaidX)];
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp;
  case Special::NWarpId:
    return warps.size();
  case Special::SmId:
    return worker;
  case Special::NSmId:
    return launch.workers;
  case Special::GridId:
    return 1;
  case Special::Clock:
    return uint32_t(instructions);
  case Special::Clock64:
    return instructions;
  case Special::GlobalTimer:
    return uint64_t(
        std::chrono::steady_clock::now().time_since_epoch().count());
  case Special::LaneMaskEq:
    return 1u << lane;
  case Special::LaneMaskLt:
    return (1u << lane) - 1;
  case Special::LaneMaskLe:
    return (2ull << lane) - 1;
  case Special::LaneMaskGt:
    return uint32_t(~((2ull << lane) - 1));
  case Special::LaneMaskGe:
    return ~((1u << lane) - 1);
  case Special::DynamicSharedBytes:
  case Special::TotalSharedBytes:
    return launch.sharedBytes;
  case Special::Count:
    break;
  }
  return 0;
}

} // namespace nereid::sim
