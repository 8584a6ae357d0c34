//===- ScalarMemoryOps.cpp - Loads into scalar registers ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/Workgroup.h"

#include <cstring>

namespace nereid::sim::amd {

/// Parts of a word, which gfx12 has: what `detail` says.
enum Part : unsigned { Whole, SignedByte, Byte, SignedHalf, HalfWord };

static void load(Wave &wave, const Instruction &instruction) {
  unsigned part = instruction.semantics->detail;
  uint32_t bytes = part == Whole  ? instruction.to.words * 4
                   : part <= Byte ? 1
                                  : 2;
  uint64_t address = wave.readScalar(instruction.scalarAddress) +
                     uint64_t(instruction.offset) +
                     uint32_t(wave.readScalar(instruction.from[0]));
  if (part == Whole) {
    address &= ~uint64_t{3};
  }
  wave.issue(Counter::Scalar, false, &instruction.to);
  const unsigned char *from = wave.group.constant(wave, address, bytes);
  if (!from) {
    wave.fault(Fault::Kind::IllegalAddress, "reads " + std::to_string(bytes) +
                                                " bytes at " +
                                                hexadecimal(address));
  }
  uint32_t words[16] = {};
  std::memcpy(words, from, bytes);
  if (part == SignedByte) {
    words[0] = uint32_t(int32_t(int8_t(words[0])));
  } else if (part == SignedHalf) {
    words[0] = uint32_t(int32_t(int16_t(words[0])));
  }
  if (instruction.to.kind == Operand::Kind::Scalar) {
    std::copy_n(words, instruction.to.words,
                &wave.scalars[instruction.to.index]);
  }
}

static void doNothing(Wave &, const Instruction &) {}

/// A clock that goes on, and says nothing of time.
static void readTime(Wave &wave, const Instruction &instruction) {
  wave.issue(Counter::Scalar, false, &instruction.to);
  wave.writeScalar(instruction.to, wave.executed);
}

std::span<const Semantics> scalarMemoryFamily() {
  static const std::vector<Semantics> rows = {
      custom("s_load_dword s_load_b32", load, Type::B32),
      custom("s_load_dwordx2 s_load_b64", load, Type::B64),
      custom("s_load_b96", load, Type::B96),
      custom("s_load_dwordx4 s_load_b128", load, Type::B128),
      custom("s_load_dwordx8 s_load_b256", load, Type::B256),
      custom("s_load_dwordx16 s_load_b512", load, Type::B512),
      custom("s_load_i8", load, Type::B32, {}, 0, SignedByte),
      custom("s_load_u8", load, Type::B32, {}, 0, Byte),
      custom("s_load_i16", load, Type::B32, {}, 0, SignedHalf),
      custom("s_load_u16", load, Type::B32, {}, 0, HalfWord),
      custom("s_dcache_inv s_dcache_wb s_gl1_inv", doNothing, Type::None, {},
             NoOperands),
      custom("s_memtime s_memrealtime", readTime, Type::B64, {}, NoOperands),
  };
  return rows;
}

} // namespace nereid::sim::amd
