//===- BufferOps.cpp - Arrays with bounds ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A resource of four words says where an array begins and how long it is.
// Outside of it a lane reads 0 and writes nothing. Raw buffers and structured
// ones are here; swizzled and typed ones are not.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/MemoryRows.h"
#include "nereid/Sim/AMD/Workgroup.h"

#include <optional>

namespace nereid::sim::amd {

/// The address of a lane's element; none outside of the array.
static std::optional<uint64_t> addressOf(const Wave &wave,
                                         const Instruction &instruction,
                                         unsigned lane, uint32_t bytes) {
  const uint32_t *words = &wave.scalars[instruction.resource.index];
  uint64_t base = words[0] | uint64_t(words[1] & 0xffff) << 32;
  uint32_t stride = words[1] >> 16 & 0x3fff, records = words[2];
  constexpr uint32_t swizzles = 1u << 31;
  if (words[1] & swizzles) {
    wave.fault(Fault::Kind::Illegal,
               "takes a swizzled buffer, which is not simulated");
  }
  unsigned at = 0;
  uint64_t index = 0, offset = uint64_t(instruction.offset);
  if (instruction.hasIndex) {
    index = wave.lane(instruction.vectorAddress, at++, lane);
  }
  if (instruction.hasOffset) {
    offset += wave.lane(instruction.vectorAddress, at, lane);
  }
  bool isInside = stride == 0 || !instruction.hasIndex
                      ? offset + bytes <= records
                      : index < records && offset + bytes <= stride;
  if (!isInside) {
    return std::nullopt;
  }
  auto scalar = uint32_t(wave.readScalar(instruction.from[0]));
  return base + scalar + offset + index * stride;
}

static void load(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.to.words;
  uint32_t bytes = elementBytes(detail, words);
  wave.issue(Counter::Load, true, &instruction.to);
  static constexpr unsigned char zeros[16] = {};
  std::array<const unsigned char *, 64> from;
  forMask(wave.exec(), [&](unsigned lane) {
    auto address = addressOf(wave, instruction, lane, bytes);
    from[lane] =
        address ? wave.group.global(wave, lane, *address, bytes, Access::Read)
                : zeros;
  });
  forMask(wave.exec(), [&](unsigned lane) {
    loadElement(wave, instruction.to, detail, lane, from[lane], 0, words);
  });
}

static void store(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.data[0].words;
  uint32_t bytes = elementBytes(detail, words);
  wave.issue(Counter::Store, true);
  forMask(wave.exec(), [&](unsigned lane) {
    if (auto address = addressOf(wave, instruction, lane, bytes)) {
      storeElement(
          wave, instruction.data[0], detail, lane,
          wave.group.global(wave, lane, *address, bytes, Access::Write), words);
    }
  });
}

static void update(Wave &wave, const Instruction &instruction) {
  uint32_t bytes = updateBytes(instruction);
  bool returns = instruction.to.kind != Operand::Kind::None;
  wave.issue(returns ? Counter::Load : Counter::Store, true, &instruction.to);
  forMask(wave.exec(), [&](unsigned lane) {
    const Operand &data = instruction.data[0];
    bool compares = updateOf(instruction) == Update::CompareSwap;
    uint64_t value = laneNumber(wave, data, lane, bytes);
    uint64_t expected =
        compares ? laneNumber(wave, data, lane, bytes, bytes / 4) : 0;
    uint64_t old = 0;
    if (auto address = addressOf(wave, instruction, lane, bytes)) {
      old = updateMemory(
          updateOf(instruction),
          wave.group.global(wave, lane, *address, bytes, Access::Atomic), bytes,
          value, expected);
    }
    if (returns) {
      wave.writeLane(instruction.to, 0, lane, uint32_t(old));
      if (bytes == 8) {
        wave.writeLane(instruction.to, 1, lane, uint32_t(old >> 32));
      }
    }
  });
}

static void countLoad(Wave &wave, const Instruction &) {
  wave.issue(Counter::Load, true);
}

std::span<const Semantics> bufferFamily() {
  static const std::vector<Semantics> rows = [] {
    std::vector<Semantics> all = memoryRows("buffer", load, store, update);
    all.push_back(custom("buffer_gl0_inv buffer_gl1_inv buffer_inv "
                         "buffer_wbl2 buffer_wbinvl1 buffer_wbinvl1_vol",
                         countLoad, Type::None, {}, NoOperands | AllLanes));
    return all;
  }();
  return rows;
}

} // namespace nereid::sim::amd
