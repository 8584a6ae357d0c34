//===- DecodeVector.cpp - Bits of vector instructions ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Decoder.h"

namespace nereid::sim::amd {

// Codes of a first source that say: another word follows.
static constexpr unsigned dpp8Code = 233, dpp8FetchCode = 234, sdwaCode = 249,
                          dppCode = 250;
// What `detail` of the tables says of the accumulation registers' moves.
static constexpr unsigned addsLiteral = 1, multipliesLiteral = 2,
                          toAccumulator = 3, fromAccumulator = 4,
                          betweenAccumulators = 5;

//===----------------------------------------------------------------------===//
// Sources and results
//===----------------------------------------------------------------------===//

/// RDNA names half a register by bit 7 of a number, where the value has 16 bits
/// and the encoding 8.
static bool hasHalves(Generation generation, Type type) {
  return generation != Generation::Cdna && isHalf(type);
}

void Decoder::vopResult(unsigned number) {
  Type type = out.semantics->to;
  bool isHalfName = hasHalves(generation, type);
  vector(out.to, isHalfName ? number & 0x7f : number, type);
  half(out.to, isHalfName && number >> 7);
}

bool Decoder::secondSource(unsigned number, Type type) {
  bool isHalfName = hasHalves(generation, type);
  vector(out.from[1], isHalfName ? number & 0x7f : number, type);
  half(out.from[1], isHalfName && number >> 7);
  return true;
}

bool Decoder::readDpp(unsigned word, bool isLong) {
  if (word >= words.size()) {
    return false;
  }
  size = word + 1;
  uint32_t of = words[word];
  LaneMove &move = out.move;
  move.kind = LaneMove::Kind::Dpp16;
  move.control = uint16_t(of >> 8 & 0x1ff);
  move.fetchesInactive = of >> 18 & 1;
  move.boundZero = of >> 19 & 1;
  if (!isLong) {
    out.negate = uint8_t((of >> 20 & 1) | (of >> 22 & 1) << 1);
    out.absolute = uint8_t((of >> 21 & 1) | (of >> 23 & 1) << 1);
  }
  move.bankMask = of >> 24 & 0xf;
  move.rowMask = uint8_t(of >> 28);
  out.variant = isLong ? Variant::E64Dpp : Variant::Dpp;
  return true;
}

bool Decoder::readSdwa(bool isCompare) {
  if (generation != Generation::Cdna || words.size() < 2) {
    return false;
  }
  size = 2;
  uint32_t of = words[1];
  LaneMove &move = out.move;
  move.kind = LaneMove::Kind::Sdwa;
  out.variant = Variant::Sdwa;
  if (isCompare) {
    bool isNamed = of >> 15 & 1;
    implied(out.to, isNamed ? of >> 8 & 0x7f : vccRegister, Type::Mask);
  } else {
    move.toPart = of >> 8 & 7;
    move.toUnused = of >> 11 & 3;
    out.clamps = of >> 13 & 1;
    out.multiply = of >> 14 & 3;
  }
  for (unsigned i = 0; i < 2; ++i) {
    uint32_t part = of >> (16 + 8 * i);
    move.part[i] = part & 7;
    move.extends[i] = part >> 3 & 1;
    out.negate |= uint8_t((part >> 4 & 1) << i);
    out.absolute |= uint8_t((part >> 5 & 1) << i);
  }
  if (of >> 23 & 1) {
    return source(out.from[0], of & 0xff, out.semantics->from[0]);
  }
  vector(out.from[0], of & 0xff, out.semantics->from[0]);
  return true;
}

bool Decoder::firstSource(unsigned code, Type type) {
  uint32_t of = words.size() > 1 ? words[1] : 0;
  unsigned number = of & 0xff;
  bool isHalfName = hasHalves(generation, type);
  if (code == dppCode) {
    vector(out.from[0], isHalfName ? number & 0x7f : number, type);
    half(out.from[0], isHalfName && number >> 7);
    return readDpp(1, false);
  }
  if (code == sdwaCode) {
    return readSdwa(out.encoding == Encoding::VOPC);
  }
  bool isRdna = generation != Generation::Cdna;
  if (isRdna && (code == dpp8Code || code == dpp8FetchCode)) {
    vector(out.from[0], isHalfName ? number & 0x7f : number, type);
    half(out.from[0], isHalfName && number >> 7);
    out.move.kind = LaneMove::Kind::Dpp8;
    out.move.selects = of >> 8;
    out.move.boundZero = true;
    out.move.fetchesInactive = code == dpp8FetchCode;
    out.variant = Variant::Dpp;
    size = 2;
    return words.size() > 1;
  }
  constexpr unsigned firstVector = 256;
  if (isHalfName && code >= firstVector) {
    vector(out.from[0], code & 0x7f, type);
    half(out.from[0], code >> 7 & 1);
    return true;
  }
  return source(out.from[0], code, type);
}

//===----------------------------------------------------------------------===//
// VOP1, VOP2, VOPC
//===----------------------------------------------------------------------===//

bool Decoder::decodeVector() {
  if (is(31, 25, 0b0111111)) {
    return decodeVop1();
  }
  if (is(31, 25, 0b0111110)) {
    return decodeVopc();
  }
  if (is(31, 31, 0)) {
    return decodeVop2();
  }
  if (generation == Generation::Cdna) {
    if (is(31, 23, 0b110100111)) {
      return decodePacked(bits(22, 16));
    }
    return is(31, 26, 0b110100) && decodeVop3(bits(25, 16));
  }
  if (is(31, 24, 0b11001100)) {
    return decodePacked(bits(22, 16));
  }
  if (is(31, 26, 0b110010)) {
    return decodeDual();
  }
  return is(31, 26, 0b110101) && decodeVop3(bits(25, 16));
}

bool Decoder::decodeVop1() {
  if (!set(Encoding::VOP1, bits(16, 9), 1)) {
    return false;
  }
  out.variant = Variant::E32;
  const Semantics &of = *out.semantics;
  if (of.flags & NoOperands) {
    return true;
  }
  if (of.flags & LaneScalar) {
    scalarResult(out.to, bits(24, 17), of.to);
  } else {
    vopResult(bits(24, 17));
  }
  out.fromCount = 1;
  if (!firstSource(bits(8, 0), of.from[0])) {
    return false;
  }
  if (of.detail == betweenAccumulators) {
    out.to.index += firstAccumulator;
    out.from[0].index += firstAccumulator;
  }
  return true;
}

bool Decoder::decodeVop2() {
  if (!set(Encoding::VOP2, bits(30, 25), 1)) {
    return false;
  }
  out.variant = Variant::E32;
  const Semantics &of = *out.semantics;
  vopResult(bits(24, 17));
  if (of.detail == addsLiteral || of.detail == multipliesLiteral) {
    out.variant = Variant::Plain;
    out.fromCount = 3;
    unsigned other = of.detail == addsLiteral ? 1 : 2;
    bool isHalfName = hasHalves(generation, of.to);
    constexpr unsigned firstVector = 256, upper = 0x80;
    unsigned first = bits(8, 0);
    bool isUpper = isHalfName && first >= firstVector && first & upper;
    if (!source(out.from[0], isUpper ? first & ~upper : first, of.from[0])) {
      return false;
    }
    half(out.from[0], isUpper);
    unsigned number = bits(16, 9);
    vector(out.from[other], isHalfName ? number & 0x7f : number, of.from[1]);
    half(out.from[other], isHalfName && number >> 7);
    return literal(out.from[3 - other], of.from[2]);
  }
  out.fromCount = 2;
  if (!secondSource(bits(16, 9), of.from[1]) ||
      !firstSource(bits(8, 0), of.from[0])) {
    return false;
  }
  constexpr uint32_t secondIsScalar = 1u << 31;
  if (out.variant == Variant::Sdwa && words[1] & secondIsScalar &&
      !source(out.from[1], bits(16, 9), of.from[1])) {
    return false;
  }
  if (of.flags & ReadsTo) {
    out.from[2] = out.to;
    out.fromCount = 3;
  } else if (of.from[2] == Type::Mask) {
    implied(out.from[2], vccRegister, Type::Mask);
    out.fromCount = 3;
  }
  if (of.carry == Type::Mask) {
    implied(out.carry, vccRegister, Type::Mask);
  }
  return true;
}

bool Decoder::decodeVopc() {
  if (!set(Encoding::VOPC, bits(24, 17), 1)) {
    return false;
  }
  out.variant = Variant::E32;
  const Semantics &of = *out.semantics;
  implied(out.to,
          of.flags & WritesExec && generation != Generation::Cdna ? execRegister
                                                                  : vccRegister,
          Type::Mask);
  out.fromCount = 2;
  if (!secondSource(bits(16, 9), of.from[1]) ||
      !firstSource(bits(8, 0), of.from[0])) {
    return false;
  }
  constexpr uint32_t secondIsScalar = 1u << 31;
  return out.variant != Variant::Sdwa || !(words[1] & secondIsScalar) ||
         source(out.from[1], bits(16, 9), of.from[1]);
}

//===----------------------------------------------------------------------===//
// VOP3: and the long form of the others
//===----------------------------------------------------------------------===//

bool Decoder::decodeVop3(unsigned number) {
  bool isCdna = generation == Generation::Cdna;
  unsigned firstVop1 = isCdna ? 0x140 : 0x180;
  constexpr unsigned firstVop2 = 0x100, vop2Count = 0x40;
  Encoding encoding = Encoding::VOP3;
  bool isSet = set(Encoding::VOP3, number, 2);
  if (!isSet) {
    unsigned inner = number;
    if (number < firstVop2) {
      encoding = Encoding::VOPC;
    } else if (number >= firstVop1 && number < firstVop1 + 0x80) {
      encoding = Encoding::VOP1;
      inner -= firstVop1;
    } else if (number < firstVop2 + vop2Count) {
      encoding = Encoding::VOP2;
      inner -= firstVop2;
    } else {
      return false;
    }
    isSet = set(encoding, inner, 2);
  }
  if (!isSet || out.semantics->detail == addsLiteral ||
      out.semantics->detail == multipliesLiteral) {
    return false;
  }
  out.variant = encoding == Encoding::VOP3 ? Variant::Plain : Variant::E64;
  const Semantics &of = *out.semantics;
  if (of.flags & NoOperands) {
    return true;
  }
  bool hasCarry = of.carry == Type::Mask;
  if (of.to == Type::Mask || of.flags & LaneScalar) {
    scalarResult(out.to, bits(7, 0), of.to);
  } else {
    vector(out.to, bits(7, 0), of.to);
  }
  if (hasCarry) {
    scalarResult(out.carry, bits(14, 8), Type::Mask);
  } else {
    out.absolute = uint8_t(bits(10, 8));
    out.select = uint8_t(bits(14, 11));
  }
  out.clamps = bits(15, 15);
  out.multiply = uint8_t(bits(60, 59));
  out.negate = uint8_t(bits(63, 61));
  bool isMoved = false;
  for (unsigned i = 0; i < 3; ++i) {
    if (of.from[i] == Type::None || (i == 2 && of.flags & ReadsTo)) {
      continue;
    }
    unsigned code = bits(40 + 9 * i, 32 + 9 * i);
    if (i == 0 && !isCdna && code == dppCode) {
      vector(out.from[0], words.size() > 2 ? words[2] & 0xff : 0, of.from[0]);
      isMoved = true;
    } else if (!source(out.from[i], code, of.from[i])) {
      return false;
    }
    out.fromCount = i + 1;
    if (isHalf(of.from[i])) {
      half(out.from[i], out.select >> i & 1);
    }
  }
  if (isMoved && !readDpp(2, true)) {
    return false;
  }
  if (isHalf(of.to)) {
    half(out.to, out.select >> 3 & 1);
  }
  if (of.flags & ReadsTo) {
    out.from[2] = out.to;
    out.fromCount = 3;
  }
  if (of.from[3] == Type::Mask) {
    implied(out.from[3], vccRegister, Type::Mask);
    out.fromCount = 4;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// VOP3P
//===----------------------------------------------------------------------===//

bool Decoder::decodePacked(unsigned number) {
  if (!set(Encoding::VOP3P, number, 2)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  if (of.flags & Matrix) {
    return decodeMatrix();
  }
  vector(out.to, bits(7, 0), of.to);
  out.negateHigh = uint8_t(bits(10, 8));
  out.select = uint8_t(bits(13, 11));
  out.selectHigh = uint8_t(bits(60, 59) | bits(14, 14) << 2);
  out.clamps = bits(15, 15);
  out.negate = uint8_t(bits(63, 61));
  if (of.flags & MixedHalves) {
    out.absolute = out.negateHigh;
    out.negateHigh = 0;
  }
  for (unsigned i = 0; i < 3 && of.from[i] != Type::None; ++i) {
    if (i == 2 && of.flags & ReadsTo) {
      break;
    }
    Type type = of.from[i];
    if (of.flags & MixedHalves) {
      type = out.selectHigh >> i & 1 ? Type::F16 : Type::F32;
    }
    if (!source(out.from[i], bits(40 + 9 * i, 32 + 9 * i), type)) {
      return false;
    }
    if (isHalf(type)) {
      half(out.from[i], out.select >> i & 1);
    }
    out.fromCount = i + 1;
  }
  if (of.detail == fromAccumulator) {
    out.from[0].index += firstAccumulator;
  } else if (of.detail == toAccumulator) {
    out.to.index += firstAccumulator;
  }
  if (of.flags & ReadsTo) {
    out.from[out.fromCount++] = out.to;
  }
  return true;
}

bool Decoder::decodeMatrix() {
  const Semantics &of = *out.semantics;
  bool isCdna = generation == Generation::Cdna;
  vector(out.to, bits(7, 0), of.to);
  bool isAccumulator = isCdna && bits(15, 15);
  if (isAccumulator) {
    out.to.index += firstAccumulator;
  }
  for (unsigned i = 0; i < 3; ++i) {
    if (!source(out.from[i], bits(40 + 9 * i, 32 + 9 * i), of.from[i])) {
      return false;
    }
    bool isThere = i < 2 ? isCdna && bits(59 + i, 59 + i) : isAccumulator;
    if (isThere && out.from[i].kind == Operand::Kind::Vector) {
      out.from[i].index += firstAccumulator;
    }
  }
  out.fromCount = 3;
  if (isCdna) {
    out.select = uint8_t(bits(14, 11));    // ABID
    out.negateHigh = uint8_t(bits(10, 8)); // CBSZ
    out.negate = uint8_t(bits(63, 61));    // BLGP
    // Formats: 2 and more are of 6 and 4 bits.
    constexpr uint8_t formatsOfBytes = 2;
    return !out.name.ends_with("f8f6f4") ||
           (out.negateHigh < formatsOfBytes && out.negate < formatsOfBytes);
  }
  out.select = uint8_t(bits(13, 11));
  out.selectHigh = uint8_t(bits(60, 59) | bits(14, 14) << 2);
  out.negateHigh = uint8_t(bits(10, 8));
  out.negate = uint8_t(bits(63, 61));
  out.clamps = bits(15, 15);
  return true;
}

//===----------------------------------------------------------------------===//
// VOPD: two at once
//===----------------------------------------------------------------------===//

bool Decoder::decodeHalfOfDual(Encoding encoding, unsigned number,
                               unsigned sourceCode, unsigned other,
                               unsigned result, Instruction &to) {
  unsigned before = size;
  if (!set(encoding, number, 2)) {
    return false;
  }
  size = before;
  const Semantics &of = *out.semantics;
  vector(out.to, result, of.to);
  if (!source(out.from[0], sourceCode, of.from[0])) {
    return false;
  }
  out.fromCount = 2;
  if (of.detail == addsLiteral || of.detail == multipliesLiteral) {
    unsigned place = of.detail == addsLiteral ? 1 : 2;
    vector(out.from[place], other, of.from[1]);
    out.fromCount = 3;
    if (!literal(out.from[3 - place], of.from[2])) {
      return false;
    }
  } else if (of.from[1] != Type::None) {
    vector(out.from[1], other, of.from[1]);
  } else {
    out.fromCount = 1;
  }
  if (of.flags & ReadsTo) {
    out.from[2] = out.to;
    out.fromCount = 3;
  } else if (of.from[2] == Type::Mask) {
    implied(out.from[2], vccRegister, Type::Mask);
    out.fromCount = 3;
  }
  out.bytes = uint8_t(size * 4);
  collectRegisters();
  to = std::move(out);
  out = Instruction();
  return true;
}

bool Decoder::decodeDual() {
  Instruction first, second;
  unsigned y = bits(55, 49) << 1 | (bits(56, 56) ^ 1);
  size = 2;
  if (!decodeHalfOfDual(Encoding::VOPDX, bits(25, 22), bits(8, 0), bits(16, 9),
                        bits(63, 56), first)) {
    return false;
  }
  // Both halves may have the one literal.
  bool hasLiteral = size == 3;
  size = 2;
  if (!decodeHalfOfDual(Encoding::VOPDY, bits(21, 17), bits(40, 32),
                        bits(48, 41), y, second)) {
    return false;
  }
  if (hasLiteral) {
    size = 3;
  }
  second.bytes = uint8_t(size * 4);
  out = std::move(first);
  out.reads.clear();
  out.writes.clear();
  out.second = std::make_shared<const Instruction>(std::move(second));
  return true;
}

} // namespace nereid::sim::amd
