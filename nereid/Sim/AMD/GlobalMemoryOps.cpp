//===- GlobalMemoryOps.cpp - Global, flat and scratch memory --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/MemoryRows.h"
#include "nereid/Sim/AMD/Workgroup.h"

namespace nereid::sim::amd {

static uint64_t addressOf(const Wave &wave, const Instruction &instruction,
                          unsigned lane) {
  uint64_t address = uint64_t(instruction.offset);
  if (instruction.vectorAddress.kind == Operand::Kind::Vector) {
    const Operand &of = instruction.vectorAddress;
    address += laneNumber(wave, of, lane, of.words * 4);
  }
  if (instruction.scalarAddress.kind == Operand::Kind::Scalar) {
    address += wave.readScalar(instruction.scalarAddress);
  }
  return address;
}

/// FLAT instructions are of LDS or of global memory, and counted as both.
static void count(Wave &wave, const Instruction &instruction, Counter counter,
                  const Operand *to = nullptr) {
  bool isFlat = instruction.encoding == Encoding::FLAT;
  wave.issue(counter, !isFlat, to);
  if (isFlat) {
    wave.issue(Counter::Shared, false, to);
  }
}

static void load(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.to.words;
  uint32_t bytes = elementBytes(detail, words);
  count(wave, instruction, Counter::Load, &instruction.to);
  // The address may be in a register that is loaded.
  std::array<const unsigned char *, 64> from;
  forMask(wave.exec(), [&](unsigned lane) {
    from[lane] = wave.group.global(
        wave, lane, addressOf(wave, instruction, lane), bytes, Access::Read);
  });
  forMask(wave.exec(), [&](unsigned lane) {
    loadElement(wave, instruction.to, detail, lane, from[lane], 0, words);
  });
}

static void store(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.data[0].words;
  uint32_t bytes = elementBytes(detail, words);
  count(wave, instruction, Counter::Store);
  forMask(wave.exec(), [&](unsigned lane) {
    unsigned char *to = wave.group.global(
        wave, lane, addressOf(wave, instruction, lane), bytes, Access::Write);
    storeElement(wave, instruction.data[0], detail, lane, to, words);
  });
}

static void update(Wave &wave, const Instruction &instruction) {
  uint32_t bytes = updateBytes(instruction);
  bool returns = instruction.to.kind != Operand::Kind::None;
  count(wave, instruction, returns ? Counter::Load : Counter::Store,
        &instruction.to);
  Lanes old = {};
  forMask(wave.exec(), [&](unsigned lane) {
    uint64_t address = addressOf(wave, instruction, lane);
    if (address % bytes) {
      wave.fault(lane, Fault::Kind::Misaligned,
                 "updates " + std::to_string(bytes) + " bytes at " +
                     hexadecimal(address));
    }
    unsigned char *at =
        wave.group.global(wave, lane, address, bytes, Access::Atomic);
    const Operand &data = instruction.data[0];
    bool compares = updateOf(instruction) == Update::CompareSwap;
    uint64_t value = laneNumber(wave, data, lane, bytes);
    uint64_t expected =
        compares ? laneNumber(wave, data, lane, bytes, bytes / 4) : 0;
    old[lane] = updateMemory(updateOf(instruction), at, bytes, value, expected);
  });
  if (returns) {
    forMask(wave.exec(), [&](unsigned lane) {
      wave.writeLane(instruction.to, 0, lane, uint32_t(old[lane]));
      if (bytes == 8) {
        wave.writeLane(instruction.to, 1, lane, uint32_t(old[lane] >> 32));
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// Scratch: memory of a lane, from address 0 on
//===----------------------------------------------------------------------===//

static unsigned char *scratchAt(Wave &wave, const Instruction &instruction,
                                unsigned lane, uint32_t bytes,
                                const char *verb) {
  auto address = uint32_t(addressOf(wave, instruction, lane));
  uint32_t size = wave.group.launch.kernel.privateBytes;
  if (address > size || bytes > size - address) {
    wave.fault(lane, Fault::Kind::IllegalAddress,
               std::string(verb) + std::to_string(bytes) + " bytes at " +
                   hexadecimal(address) + " of scratch memory, which has " +
                   std::to_string(size));
  }
  return &wave.scratch[size_t(lane) * size + address];
}

static void loadScratch(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.to.words;
  uint32_t bytes = elementBytes(detail, words);
  wave.issue(Counter::Load, true, &instruction.to);
  std::array<const unsigned char *, 64> from;
  forMask(wave.exec(), [&](unsigned lane) {
    from[lane] = scratchAt(wave, instruction, lane, bytes, "reads ");
  });
  forMask(wave.exec(), [&](unsigned lane) {
    loadElement(wave, instruction.to, detail, lane, from[lane], 0, words);
  });
}

static void storeScratch(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.data[0].words;
  uint32_t bytes = elementBytes(detail, words);
  wave.issue(Counter::Store, true);
  forMask(wave.exec(), [&](unsigned lane) {
    storeElement(wave, instruction.data[0], detail, lane,
                 scratchAt(wave, instruction, lane, bytes, "writes "), words);
  });
}

/// The caches' invalidations and writes are counted, and change nothing here.
static void countLoad(Wave &wave, const Instruction &) {
  wave.issue(Counter::Load, true);
}
static void countStore(Wave &wave, const Instruction &) {
  wave.issue(Counter::Store, true);
}

std::span<const Semantics> globalMemoryFamily() {
  static const std::vector<Semantics> rows = [] {
    std::vector<Semantics> all = {
        custom("global_inv", countLoad, Type::None, {}, NoOperands | AllLanes),
        custom("global_wb global_wbinv", countStore, Type::None, {},
               NoOperands | AllLanes)};
    for (const auto &part :
         {memoryRows("global", load, store, update),
          memoryRows("flat", load, store, update),
          memoryRows("scratch", loadScratch, storeScratch, nullptr)}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return rows;
}

} // namespace nereid::sim::amd
