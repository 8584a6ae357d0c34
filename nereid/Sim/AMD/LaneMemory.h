//===- LaneMemory.h - What a lane does to memory ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_LANEMEMORY_H
#define NEREID_SIM_AMD_LANEMEMORY_H

#include "nereid/Sim/AMD/Wave.h"

namespace nereid::sim::amd {

/// An element of memory, as `detail` of a row has it.
enum Element : unsigned {
  Words, ///< as many as the type of the register
  ByteUnsigned,
  ByteSigned,
  ShortUnsigned,
  ShortSigned,
  ElementMask = 0xf,
  Low = 1 << 4,  ///< of a register whose other half stays
  High = 1 << 5, ///< the upper half
};

enum class Update : uint8_t {
  Add,
  Subtract,
  Increase, ///< up to the operand, then 0
  Decrease, ///< down to 0, then the operand
  SignedMin,
  UnsignedMin,
  SignedMax,
  UnsignedMax,
  And,
  Or,
  Xor,
  Swap,
  CompareSwap,
  AddFloat,
  MinFloat,
  MaxFloat,
  AddHalves,
  AddBfloats,
  ReverseSubtract,
};

uint32_t elementBytes(unsigned detail, unsigned words);
/// One lane's element, from memory to `to` and the other way round. `skip`:
/// words of the register in front of the element.
void loadElement(Wave &wave, const Operand &to, unsigned detail, unsigned lane,
                 const unsigned char *from, unsigned skip, unsigned words);
void storeElement(const Wave &wave, const Operand &data, unsigned detail,
                  unsigned lane, unsigned char *to, unsigned words);
/// What was there before. In one step, also between the host's threads.
uint64_t updateMemory(Update update, unsigned char *at, uint32_t bytes,
                      uint64_t value, uint64_t expected);
/// A number of 32 or 64 bits of a lane, `skip` words in.
uint64_t laneNumber(const Wave &wave, const Operand &of, unsigned lane,
                    uint32_t bytes, unsigned skip = 0);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_LANEMEMORY_H
