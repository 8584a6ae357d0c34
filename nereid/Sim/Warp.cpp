//===- Warp.cpp - The flow of 32 threads ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Block.h"

#include <algorithm>
#include <bit>

namespace nereid::sim {

/// What a register holds before it is written: an address that no array has, a
/// NaN.
static constexpr uint64_t poison = 0xfff7a5a5fff7a5a5;

Warp::Warp(Block &block, unsigned index)
    : block(block), program(block.launch.program), index(index),
      predicates(program.predicateCount), file(program.fileSize()) {
  for (size_t i = 0; i < program.constants.size(); ++i) {
    file[program.firstConstant() + i].fill(program.constants[i]);
  }
  if (block.launch.profile) {
    clock =
        std::make_unique<WarpClock>(program.fileSize(), program.predicateCount,
                                    (block.warpCount() + 3) / 4);
  }
  if (program.localBytes) {
    local =
        std::make_unique<unsigned char[]>(size_t(program.localBytes) * lanes);
  }
}

void Warp::readSpecial(uint32_t at) {
  Special special = program.specials[at - program.firstSpecial()];
  for (unsigned lane = 0; lane < lanes; ++lane) {
    file[at][lane] = block.valueOf(special, index, lane);
  }
}

void Warp::begin() {
  for (uint32_t i = 0; i < program.firstConstant(); ++i) {
    unsigned bits = program.registerBits[i];
    file[i].fill(bits == 64 ? poison : poison & ((uint64_t{1} << bits) - 1));
  }
  for (size_t i = 0; i < program.specials.size(); ++i) {
    readSpecial(program.firstSpecial() + uint32_t(i));
  }
  const auto &shape = block.launch.threads;
  uint32_t threads = shape[0] * shape[1] * shape[2] - index * lanes;
  living = threads >= lanes ? allLanes : (1u << threads) - 1;
  groups.assign(1, Group{0, living});
  copies.clear();
  copyGroups.fill(0);
  products.clear();
  productGroup = 0;
  registers = program.startRegisters;
  registerChanges.clear();
  atBarrier = false;
  if (clock) {
    clock->begin();
  }
}

size_t Warp::furthestBehind() const {
  size_t best = groups.size();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].waits && !groups[i].sleeps &&
        (best == groups.size() || groups[i].at < groups[best].at)) {
      best = i;
    }
  }
  return best;
}

/// Groups that have met become one.
void Warp::merge() {
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t j = groups.size(); --j > i;) {
      if (groups[j].at == groups[i].at) {
        groups[i].mask |= groups[j].mask;
        groups[i].waits = false;
        groups[i].sleeps.reset();
        groups.erase(groups.begin() + long(j));
      }
    }
  }
}

bool Warp::areTogether(const Group &group,
                       const Instruction &instruction) const {
  uint32_t members = living;
  if (instruction.members != noIndex) {
    unsigned lane = unsigned(std::countr_zero(group.mask));
    members = uint32_t(file[instruction.members][lane]) & living;
  }
  return !(members & ~group.mask);
}

std::string Warp::places() const {
  std::string text;
  for (const Group &group : groups) {
    char mask[16];
    std::snprintf(mask, sizeof(mask), "0x%08x", group.mask);
    text +=
        std::string("\n  lanes ") + mask + " at " + program.describe(group.at);
    if (group.sleeps == waitsForRegisters) {
      text += ", which waits for registers";
    } else if (group.sleeps) {
      text += ", which waits for the barrier at " + hexadecimal(*group.sleeps) +
              ": its " + block.barriers.describe(*group.sleeps);
    }
  }
  return text;
}

void Warp::reportDeadlock() const {
  throw Fault{Fault::Kind::Deadlock,
              "lanes wait for lanes that do not come:" + places()};
}

/// It has not run, and will later.
void Warp::forget() {
  if (!block.counts.empty()) {
    --block.counts[current].executed;
    block.counts[current].lanes -= uint64_t(std::popcount(active));
  }
}

void Warp::branch(size_t which, const Instruction &instruction,
                  uint32_t taken) {
  Group &group = groups[which];
  uint32_t stays = group.mask & ~taken;
  if (!taken) {
    ++group.at;
  } else if (!stays) {
    group.at = instruction.target;
  } else {
    group.mask = stays;
    ++group.at;
    groups.push_back({instruction.target, taken});
  }
}

bool Warp::step(size_t which) {
  ++block.instructions;
  if (!clock) {
    return execute(which);
  }
  block.seen = {};
  bool hasRun = execute(which);
  if (hasRun) {
    clock->step(program.instructions[current],
                block.launch.profile->timings[current], block.seen);
  }
  return hasRun;
}

bool Warp::finish(Group &group, const Instruction &instruction) {
  if (active) {
    instruction.execute(*this, instruction);
  }
  if (suspendedOn) {
    group.sleeps = suspendedOn;
    suspendedOn.reset();
    forget();
    return false;
  }
  ++group.at;
  return true;
}

bool Warp::execute(size_t which) {
  current = groups[which].at;
  if (current >= program.instructions.size()) {
    throw Fault{Fault::Kind::Illegal, "the kernel has no end"};
  }
  const Instruction &instruction = program.instructions[current];
  active = groups[which].mask;
  if (instruction.isGuarded) {
    uint32_t guard = predicates[instruction.guard];
    active &= instruction.isGuardNegated ? ~guard : guard;
  }
  if (!block.counts.empty()) {
    ++block.counts[current].executed;
    block.counts[current].lanes += uint64_t(std::popcount(active));
  }
  switch (instruction.flow) {
  case Flow::Next:
  case Flow::Suspend:
    return finish(groups[which], instruction);
  case Flow::Branch:
    branch(which, instruction, active);
    return true;
  case Flow::Exit:
    living &= ~active;
    groups[which].mask &= ~active;
    ++groups[which].at;
    if (!groups[which].mask) {
      groups.erase(groups.begin() + long(which));
    }
    for (Group &group : groups) {
      group.waits = false; // for those that have ended
    }
    return true;
  case Flow::Together:
  case Flow::Barrier:
    if (active && !areTogether(groups[which], instruction)) {
      groups[which].waits = true;
      forget();
      return false;
    }
    atBarrier = active && instruction.flow == Flow::Barrier;
    return finish(groups[which], instruction);
  }
  return true;
}

bool Warp::run(unsigned most) {
  size_t which = 0;
  bool hasRun = false;
  for (Group &group : groups) {
    group.sleeps.reset();
  }
  for (unsigned n = 0; n < most && !groups.empty() && !atBarrier; ++n) {
    if (groups.size() > 1) {
      merge();
    }
    which = furthestBehind();
    if (which == groups.size()) {
      bool mayWake = std::ranges::any_of(
          groups, [](const Group &group) { return group.sleeps.has_value(); });
      if (!mayWake) {
        reportDeadlock();
      }
      return hasRun;
    }
    hasRun |= step(which);
  }
  // A group that spins for another of its warp must not keep it from running.
  if (groups.size() > 1 && !atBarrier) {
    for (Group &group : groups) {
      if (&group != &groups[which] && !group.waits && !group.sleeps) {
        hasRun |= step(size_t(&group - groups.data()));
        break;
      }
    }
  }
  return hasRun;
}

void Warp::needAllLanes() const {
  if (active != allLanes) {
    block.fault(*this, Fault::Kind::Illegal,
                "lanes are missing in an instruction of a whole warp");
  }
}

void Warp::leaveBarrier() { atBarrier = false; }

} // namespace nereid::sim
