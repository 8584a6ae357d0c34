//===- Decoder.h - Bits to instructions -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_DECODER_H
#define NEREID_SIM_AMD_DECODER_H

#include "nereid/Sim/AMD/LoadedProgram.h"
#include "nereid/Sim/AMD/Opcodes.h"

namespace nereid::sim::amd {

/// Of one instruction at the front of `words`. A member function returns false
/// where the bits mean nothing that is simulated.
class Decoder {
public:
  Decoder(Generation generation, unsigned lanes,
          std::span<const uint32_t> words)
      : generation(generation), lanes(lanes), words(words) {}

  bool decode();
  Instruction out;

private:
  /// Bits `high` to `low` of the instruction, whatever words they are in.
  uint32_t bits(unsigned high, unsigned low) const {
    uint32_t value = 0;
    for (unsigned bit = low; bit <= high; ++bit) {
      unsigned word = bit / 32;
      uint32_t from = word < words.size() ? words[word] : 0;
      value |= (from >> bit % 32 & 1) << (bit - low);
    }
    return value;
  }
  bool is(unsigned high, unsigned low, uint32_t value) const {
    return bits(high, low) == value;
  }

  bool set(Encoding encoding, unsigned number, unsigned size);
  bool decodeScalar();
  bool decodeScalarMemory();
  bool decodeVector();
  bool decodeVop1();
  bool decodeVop2();
  bool decodeVopc();
  bool decodeVop3(unsigned number);
  bool decodePacked(unsigned number);
  bool decodeMatrix();
  bool decodeDual();
  bool decodeHalfOfDual(Encoding encoding, unsigned number, unsigned source,
                        unsigned other, unsigned result, Instruction &to);
  bool decodeShared();
  bool decodeFlat();
  bool decodeWideFlat();
  bool decodeBuffer();
  bool decodeWideBuffer();

  /// The first source of VOP1, VOP2 and VOPC: maybe of another lane.
  bool firstSource(unsigned code, Type type);
  bool secondSource(unsigned number, Type type);
  bool readDpp(unsigned word, bool isLong);
  bool readSdwa(bool isCompare);
  void vopResult(unsigned number);
  /// A source of 9 bits.
  bool source(Operand &to, unsigned code, Type type);
  void scalarResult(Operand &to, unsigned code, Type type);
  void vector(Operand &to, unsigned number, Type type);
  void half(Operand &to, bool isHigh) { to.isHigh = isHigh; }
  void implied(Operand &to, unsigned index, Type type);
  bool literal(Operand &to, Type type);
  unsigned wordsOf(Type type) const;
  void collectRegisters();

  const Generation generation;
  const unsigned lanes;
  const std::span<const uint32_t> words;
  unsigned size = 1; ///< words
};

/// What an inline constant of the ISA is worth; false for other codes.
bool inlineConstant(unsigned code, Type type, uint64_t &value);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_DECODER_H
