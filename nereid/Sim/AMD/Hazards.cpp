//===- Hazards.cpp - Instructions that stand too close --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Hazards.h"

namespace nereid::sim::amd {

void Hazards::begin() {
  now = 1;
  vectors = {};
  scalars = {};
}

std::optional<Hazards::Found> Hazards::early(const Written &written,
                                             uint32_t wanted,
                                             const char *what) const {
  if (!written.at) {
    return std::nullopt;
  }
  auto have = uint32_t(now - written.at - 1);
  if (have >= wanted) {
    return std::nullopt;
  }
  return Found{written.index, wanted, have, what};
}

static bool isVectorUnit(Encoding encoding) {
  return encoding == Encoding::VOP1 || encoding == Encoding::VOP2 ||
         encoding == Encoding::VOPC || encoding == Encoding::VOP3 ||
         encoding == Encoding::VOP3P;
}

static bool isVectorMemory(Encoding encoding) {
  return encoding == Encoding::FLAT || encoding == Encoding::GLOBAL ||
         encoding == Encoding::SCRATCH || encoding == Encoding::MUBUF;
}

/// A product's result is there some passes of four cycles later. Another
/// product may add to it earlier.
std::optional<Hazards::Found>
Hazards::checkProducts(const Instruction &instruction) const {
  bool isMatrix = instruction.semantics->flags & Matrix;
  const Operand &sums = instruction.from[2];
  for (const RegisterRange &range : instruction.reads) {
    bool isSums = isMatrix && sums.kind == Operand::Kind::Vector &&
                  range.first == sums.index && range.count == sums.words;
    for (unsigned i = range.first; i < range.first + range.count; ++i) {
      if (range.isVector && vectors[i].passes && !isSums) {
        if (auto found = early(vectors[i], vectors[i].passes,
                               "the result of a matrix instruction")) {
          return found;
        }
      }
    }
  }
  return std::nullopt;
}

/// Wait states until others may read what a matrix instruction of gfx942
/// writes; earlier and later chips take more.
static uint8_t waitsForProduct(const Instruction &instruction) {
  if (!(instruction.semantics->flags & Matrix)) {
    return 0;
  }
  constexpr unsigned largeWords = 16;
  bool isLarge = instruction.to.words == largeWords;
  bool isPlain = instruction.name.ends_with("x2_f32") ||
                 instruction.name.ends_with("x4_f32");
  bool isDouble = instruction.name.ends_with("_f64");
  bool isDeep = instruction.name.ends_with("_f8f6f4");
  unsigned passes = (isLarge || isDouble ? 8 : 4) * (isPlain || isDeep ? 2 : 1);
  return uint8_t(passes + (isPlain ? 2 : 3));
}

/// The rows of the table "Required User-Inserted NOPs" of the CDNA 3 document
/// that need no more than registers.
std::optional<Hazards::Found>
Hazards::check(const Instruction &instruction) const {
  if (generation != Generation::Cdna) {
    return std::nullopt;
  }
  bool isUnit = isVectorUnit(instruction.encoding);
  bool isMemory = isVectorMemory(instruction.encoding);
  if (!isUnit && !isMemory && instruction.encoding != Encoding::DS) {
    return std::nullopt;
  }
  if (auto found = checkProducts(instruction)) {
    return found;
  }
  constexpr uint32_t toMemory = 5, toDpp = 2, execToDpp = 5, toSelect = 4,
                     toFmas = 4, fromTrans = 1;
  bool isMoved = instruction.move.kind == LaneMove::Kind::Dpp16;
  bool isTrans = instruction.semantics->flags & Trans;
  for (const RegisterRange &range : instruction.reads) {
    for (unsigned i = range.first; i < range.first + range.count; ++i) {
      if (!range.isVector) {
        if (isMemory) {
          if (auto found = early(scalars[i], toMemory,
                                 "a scalar register from the vector unit to a "
                                 "memory instruction")) {
            return found;
          }
        }
        continue;
      }
      if (isUnit && vectors[i].isTrans && !isTrans) {
        if (auto found = early(vectors[i], fromTrans,
                               "the result of a transcendental function")) {
          return found;
        }
      }
    }
  }
  if (isMoved) {
    const Operand &moved = instruction.from[0];
    if (auto found = early(vectors[moved.index], toDpp,
                           "a register that DPP reads from other lanes")) {
      return found;
    }
    if (auto found =
            early(scalars[execRegister], execToDpp, "the exec mask of DPP")) {
      return found;
    }
  }
  bool selects = instruction.name == "v_readlane_b32" ||
                 instruction.name == "v_writelane_b32";
  if (selects && instruction.from[1].kind == Operand::Kind::Scalar) {
    if (auto found = early(scalars[instruction.from[1].index], toSelect,
                           "the number of a lane")) {
      return found;
    }
  }
  if (instruction.semantics->flags & ReadsVcc) {
    return early(scalars[vccRegister], toFmas, "V_DIV_FMAS reads VCC");
  }
  return std::nullopt;
}

void Hazards::issued(const Instruction &instruction, uint32_t index) {
  if (generation != Generation::Cdna) {
    return;
  }
  if (isVectorUnit(instruction.encoding)) {
    bool isTrans = instruction.semantics->flags & Trans;
    uint8_t passes = waitsForProduct(instruction);
    for (const RegisterRange &range : instruction.writes) {
      for (unsigned i = range.first; i < range.first + range.count; ++i) {
        (range.isVector ? vectors[i] : scalars[i]) = {now, index, isTrans,
                                                      passes};
      }
    }
  } else {
    // What another unit writes is waited for by the processor.
    for (const RegisterRange &range : instruction.writes) {
      for (unsigned i = range.first; i < range.first + range.count; ++i) {
        (range.isVector ? vectors[i] : scalars[i]).at = 0;
      }
    }
  }
  ++now;
  if (instruction.name == "s_nop") {
    now += instruction.immediate & 0xf;
  }
}

} // namespace nereid::sim::amd
