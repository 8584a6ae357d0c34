//===- Workgroup.cpp - Waves that share LDS -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Workgroup.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace nereid::sim::amd {

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

/// What a hidden argument is worth (AMDGPUUsage, "Code Object V5 Metadata").
static uint64_t hiddenArgument(const LaunchRequest &launch,
                               const std::string &kind) {
  uint32_t dimensions = launch.grid[2] > 1 || launch.threads[2] > 1   ? 3
                        : launch.grid[1] > 1 || launch.threads[1] > 1 ? 2
                                                                      : 1;
  const std::map<std::string, uint64_t> known = {
      {"hidden_block_count_x", launch.grid[0]},
      {"hidden_block_count_y", launch.grid[1]},
      {"hidden_block_count_z", launch.grid[2]},
      {"hidden_group_size_x", launch.threads[0]},
      {"hidden_group_size_y", launch.threads[1]},
      {"hidden_group_size_z", launch.threads[2]},
      {"hidden_grid_dims", dimensions},
      {"hidden_dynamic_lds_size", launch.dynamicSharedBytes}};
  auto found = known.find(kind);
  return found == known.end() ? 0 : found->second;
}

Workgroup::Workgroup(const LaunchRequest &launch)
    : launch(launch), random(launch.seed) {
  const Kernel &kernel = launch.kernel;
  // A scalar load may fetch a word past the last argument.
  arguments = launch.arguments;
  size_t size = std::max<size_t>(kernel.argumentBytes, arguments.size());
  for (const KernelArgument &one : kernel.arguments) {
    size = std::max<size_t>(size, one.offset + one.bytes);
  }
  arguments.resize((size + 63) / 64 * 64);
  for (const KernelArgument &one : kernel.arguments) {
    if (one.isHidden()) {
      uint64_t value = hiddenArgument(launch, one.kind);
      std::memcpy(&arguments[one.offset], &value,
                  std::min<size_t>(one.bytes, sizeof(value)));
    }
  }
  uint32_t ldsBytes = kernel.sharedBytes + launch.dynamicSharedBytes;
  lds.resize(ldsBytes);
  unsigned count = (threadCount() + kernel.lanes - 1) / kernel.lanes;
  for (unsigned i = 0; i < count; ++i) {
    waves.push_back(std::make_unique<Wave>(*this, i));
    order.push_back(i);
  }
  if (launch.checksRaces && count > 1) {
    if (ldsBytes) {
      ldsShadow = std::make_unique<AccessShadow>(count, ldsBytes);
    }
    globalShadow = std::make_unique<AccessShadow>(count, 0);
  }
  if (launch.profile) {
    counter = std::make_unique<AccessCounter>(launch.program, *launch.profile);
  }
}

void Workgroup::begin(std::array<uint32_t, 3> at, uint64_t number) {
  position = at;
  if (counter) {
    counter->begin(number);
  }
  std::fill(lds.begin(), lds.end(), 0xff);
  for (AccessShadow *shadow : {ldsShadow.get(), globalShadow.get()}) {
    if (shadow) {
      shadow->begin();
    }
  }
  for (auto &wave : waves) {
    wave->begin();
  }
  if (launch.trace) {
    launch.trace->begin();
  }
}

/// AMDGPUUsage, "Initial Kernel Execution State".
void Workgroup::startRegisters(Wave &wave) const {
  const Kernel &kernel = launch.kernel;
  unsigned at = 0;
  auto user = [&](unsigned bit, std::initializer_list<uint32_t> words) {
    if (kernel.properties >> bit & 1) {
      for (uint32_t word : words) {
        wave.scalars[at++] = word;
      }
    }
  };
  auto place = reinterpret_cast<uint64_t>(arguments.data());
  user(0, {0, 0, 0, 0}); // a buffer for scratch memory, of old processors
  user(1, {0, 0});
  user(2, {0, 0});
  user(3, {uint32_t(place), uint32_t(place >> 32)});
  user(4, {0, 0});
  user(5, {0, 0});
  user(6, {kernel.privateBytes});
  at = kernel.rsrc2 >> 1 & 0x1f;
  if (wave.program.generation == Generation::Rdna4) {
    // TTMP9 and TTMP7, which are scalar registers from 108 on.
    wave.scalars[108 + 9] = position[0];
    wave.scalars[108 + 7] = position[1] | position[2] << 16;
  } else {
    for (unsigned i = 0; i < 3; ++i) {
      if (kernel.rsrc2 >> (7 + i) & 1) {
        wave.scalars[at++] = position[i];
      }
    }
    if (kernel.rsrc2 >> 10 & 1) {
      wave.scalars[at++] = 0;
    }
    if (kernel.rsrc2 & 1) {
      wave.scalars[at++] = 0;
    }
  }
  uint64_t exec = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    unsigned thread = wave.index * wave.lanes + lane;
    if (thread >= threadCount()) {
      break;
    }
    exec |= uint64_t{1} << lane;
    const auto &size = launch.threads;
    unsigned x = thread % size[0], y = thread / size[0] % size[1],
             z = thread / size[0] / size[1];
    wave.vectors[0][lane] = x | y << 10 | z << 20;
  }
  wave.scalars[execRegister + 1] = 0;
  wave.setExec(exec);
  wave.next = wave.program.byAddress.at(kernel.entry);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static const char *verb(Access access) {
  return access == Access::Read    ? "reads "
         : access == Access::Write ? "writes "
                                   : "updates ";
}

static std::string bytesText(uint32_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

static void reportConflict(Wave &wave, unsigned lane, Access access,
                           const AccessShadow::Conflict &conflict,
                           const std::string &where) {
  wave.fault(lane, Fault::Kind::Race,
             std::string(verb(access)) + where + ", which wave " +
                 std::to_string(conflict.wave) +
                 (conflict.wrote ? " has written" : " has read") + " at " +
                 wave.program.describe(conflict.instruction) +
                 ", with no barrier between that comes after a wait for it");
}

unsigned char *Workgroup::shared(Wave &wave, unsigned lane, uint64_t address,
                                 uint32_t bytes, Access access) {
  if (address > lds.size() || bytes > lds.size() - address) {
    wave.fault(lane, Fault::Kind::IllegalAddress,
               verb(access) + bytesText(bytes) + " at " + hexadecimal(address) +
                   " of LDS, which has " + std::to_string(lds.size()));
  }
  if (address % std::min(bytes, 4u)) {
    wave.fault(lane, Fault::Kind::Misaligned,
               verb(access) + bytesText(bytes) + " at " + hexadecimal(address) +
                   " of LDS");
  }
  if (launch.trace) {
    launch.trace->accesses(wave.index, true, address, bytes, access);
  }
  if (ldsShadow) {
    auto conflict =
        ldsShadow->access(address, bytes, wave.index,
                          wave.counters.done(Counter::Shared) +
                              wave.counters.pending(Counter::Shared),
                          wave.current, access);
    if (conflict) {
      reportConflict(wave, lane, access, *conflict,
                     bytesText(bytes) + " at " + hexadecimal(address) +
                         " of LDS");
    }
  }
  if (counter) {
    counter->addShared(lane, address, bytes, access != Access::Write,
                       access != Access::Read);
  }
  return lds.data() + address;
}

bool Workgroup::isGlobal(uint64_t address, uint32_t bytes) {
  if (recent.contains(address, bytes)) {
    return true;
  }
  MemoryRange found = launch.memory.find(address);
  if (!found.contains(address, bytes)) {
    return false;
  }
  recent = found;
  return true;
}

unsigned char *Workgroup::global(Wave &wave, unsigned lane, uint64_t address,
                                 uint32_t bytes, Access access) {
  if (!isGlobal(address, bytes)) {
    if (access == Access::Read) {
      const auto *from = constant(wave, address, bytes);
      if (from) {
        return const_cast<unsigned char *>(from);
      }
    }
    std::string text =
        verb(access) + bytesText(bytes) + " at " + hexadecimal(address);
    for (const MemoryRange &range : launch.memory.ranges()) {
      constexpr uint64_t near = 1 << 20;
      uint64_t size = range.end - range.begin;
      if (address + bytes > range.end && address < range.end + near &&
          address >= range.begin) {
        text += ", " + std::to_string(address + bytes - range.end) +
                " past the end of an allocation of " + std::to_string(size);
        break;
      }
      if (address < range.begin && address + near > range.begin) {
        text += ", " + std::to_string(range.begin - address) +
                " before an allocation of " + std::to_string(size);
        break;
      }
    }
    wave.fault(lane, Fault::Kind::IllegalAddress, text);
  }
  // Loads and stores may begin at any byte: alignment mode of code for amdhsa.
  if (access == Access::Atomic && address % std::min(bytes, 4u)) {
    wave.fault(lane, Fault::Kind::Misaligned,
               verb(access) + bytesText(bytes) + " at " + hexadecimal(address));
  }
  if (launch.trace) {
    launch.trace->accesses(wave.index, false, address, bytes, access);
  }
  if (globalShadow) {
    Counter counter = access == Access::Write ? Counter::Store : Counter::Load;
    auto conflict = globalShadow->access(address, bytes, wave.index,
                                         wave.counters.done(counter) +
                                             wave.counters.pending(counter),
                                         wave.current, access);
    if (conflict) {
      reportConflict(wave, lane, access, *conflict,
                     bytesText(bytes) + " at " + hexadecimal(address));
    }
  }
  if (counter) {
    counter->addGlobal(lane, address, bytes, access != Access::Write,
                       access != Access::Read);
  }
  return reinterpret_cast<unsigned char *>(address);
}

const unsigned char *Workgroup::constant(const Wave &wave, uint64_t address,
                                         uint32_t bytes) {
  auto within = [&](const std::vector<unsigned char> &of) {
    auto begin = reinterpret_cast<uint64_t>(of.data());
    return MemoryRange{begin, begin + of.size()}.contains(address, bytes);
  };
  if (within(arguments) || within(wave.program.image) ||
      isGlobal(address, bytes)) {
    return reinterpret_cast<const unsigned char *>(address);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Waves
//===----------------------------------------------------------------------===//

uint64_t Workgroup::executed() const {
  uint64_t sum = 0;
  for (const auto &wave : waves) {
    sum += wave->executed;
  }
  return sum;
}

void Workgroup::reportDeadlock() const {
  std::string text;
  for (const auto &wave : waves) {
    text += "\n  " + (wave->hasEnded
                          ? "wave " + std::to_string(wave->index) + " has ended"
                          : wave->place() + " waits");
  }
  throw Fault{Fault::Kind::Deadlock,
              "waves wait at a barrier that others never reach:" + text};
}

void Workgroup::passBarrier() {
  unsigned ended = 0, arrived = 0;
  for (const auto &wave : waves) {
    ended += wave->hasEnded;
    arrived += wave->hasSignalled;
  }
  if (ended + arrived < waves.size() || !arrived) {
    return;
  }
  // A processor would not count waves that have ended; no kernel of ours
  // means that.
  if (ended) {
    reportDeadlock();
  }
  std::vector<uint32_t> sharedDone, globalDone;
  for (auto &wave : waves) {
    sharedDone.push_back(wave->sharedDone);
    globalDone.push_back(wave->globalDone);
    wave->hasSignalled = false;
    wave->isAtBarrier = false;
  }
  if (ldsShadow) {
    ldsShadow->meet(sharedDone);
  }
  if (globalShadow) {
    globalShadow->meet(globalDone);
  }
}

bool Workgroup::advance() {
  if (launch.seed) {
    std::shuffle(order.begin(), order.end(), random);
  }
  constexpr unsigned turn = 1000;
  bool isLeft = false, hasMoved = false;
  for (unsigned i : order) {
    if (waves[i]->hasEnded) {
      continue;
    }
    hasMoved |= waves[i]->run(turn);
    passBarrier();
    isLeft |= !waves[i]->hasEnded;
  }
  if (isLeft && !hasMoved) {
    bool isFree = false;
    for (const auto &wave : waves) {
      isFree |= !wave->hasEnded && !wave->isAtBarrier;
    }
    if (!isFree) {
      reportDeadlock();
    }
  }
  return isLeft;
}

} // namespace nereid::sim::amd
