//===- DecodeMemory.cpp - Bits of vector memory instructions --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Decoder.h"

namespace nereid::sim::amd {

bool Decoder::decodeShared() {
  bool isCdna = generation == Generation::Cdna;
  if (!set(Encoding::DS, isCdna ? bits(24, 17) : bits(25, 18), 2)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  unsigned accumulator = isCdna && bits(25, 25) ? firstAccumulator : 0;
  if (of.from[0] != Type::None) { // an address, or a first source
    vector(out.vectorAddress, bits(39, 32), Type::B32);
  }
  if (of.from[1] != Type::None) {
    vector(out.data[0], bits(47, 40) + accumulator, of.from[1]);
  }
  if (of.from[2] != Type::None) {
    vector(out.data[1], bits(55, 48) + accumulator, of.from[2]);
  }
  if (of.to != Type::None) {
    vector(out.to, bits(63, 56) + accumulator, of.to);
  }
  out.offsets[0] = uint16_t(bits(7, 0));
  out.offsets[1] = uint16_t(bits(15, 8));
  out.offset = bits(15, 0);
  return !(isCdna ? bits(16, 16) : bits(17, 17)); // no GDS
}

static int64_t signExtended(uint32_t value, unsigned bits) {
  return int32_t(value << (32 - bits)) >> (32 - bits);
}

static Encoding segment(unsigned number) {
  constexpr Encoding segments[] = {Encoding::FLAT, Encoding::SCRATCH,
                                   Encoding::GLOBAL, Encoding::Count};
  return segments[number];
}

bool Decoder::decodeFlat() {
  bool isCdna = generation == Generation::Cdna;
  Encoding encoding = segment(isCdna ? bits(15, 14) : bits(17, 16));
  if (encoding == Encoding::Count || !set(encoding, bits(24, 18), 2)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  out.offset = encoding == Encoding::FLAT ? int64_t(bits(11, 0))
                                          : signExtended(bits(12, 0), 13);
  unsigned accumulator = isCdna && bits(55, 55) ? firstAccumulator : 0;
  bool returns;
  if (isCdna) { // sc0, nt, sc1
    out.cache = uint8_t(bits(16, 16) | bits(17, 17) << 1 | bits(25, 25) << 2);
    returns = bits(16, 16);
  } else { // glc, slc, dlc
    out.cache = uint8_t(bits(14, 14) | bits(15, 15) << 1 | bits(13, 13) << 2);
    returns = bits(14, 14);
  }
  if (of.flags & NoOperands) {
    return true;
  }
  unsigned scalar = bits(54, 48);
  bool hasScalar =
      encoding != Encoding::FLAT && scalar != (isCdna ? 0x7fu : 0x7cu);
  bool hasVector =
      encoding != Encoding::SCRATCH || bits(isCdna ? 13 : 55, isCdna ? 13 : 55);
  if (hasScalar) {
    scalarResult(out.scalarAddress, scalar,
                 encoding == Encoding::SCRATCH ? Type::B32 : Type::B64);
  }
  if (hasVector) {
    vector(out.vectorAddress, bits(39, 32),
           hasScalar || encoding == Encoding::SCRATCH ? Type::B32 : Type::B64);
  }
  if (of.from[0] != Type::None) {
    vector(out.data[0], bits(47, 40) + accumulator, of.from[0]);
  }
  if (of.to != Type::None && (!(of.flags & Atomic) || returns)) {
    vector(out.to, bits(63, 56) + accumulator, of.to);
  }
  return true;
}

bool Decoder::decodeWideFlat() {
  Encoding encoding = segment(bits(25, 24));
  if (encoding == Encoding::Count || !set(encoding, bits(21, 14), 3)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  out.offset = signExtended(bits(95, 72), 24);
  out.cache = uint8_t(bits(54, 50)); // scope, then temporal hint
  if (of.flags & NoOperands) {
    return true;
  }
  constexpr unsigned null = 124, returnsBit = 1 << 2;
  unsigned scalar = bits(6, 0);
  bool hasScalar = encoding != Encoding::FLAT && scalar != null;
  bool hasVector = encoding != Encoding::SCRATCH || bits(49, 49);
  if (hasScalar) {
    scalarResult(out.scalarAddress, scalar,
                 encoding == Encoding::SCRATCH ? Type::B32 : Type::B64);
  }
  if (hasVector) {
    vector(out.vectorAddress, bits(71, 64),
           hasScalar || encoding == Encoding::SCRATCH ? Type::B32 : Type::B64);
  }
  if (of.from[0] != Type::None) {
    vector(out.data[0], bits(62, 55), of.from[0]);
  }
  if (of.to != Type::None && (!(of.flags & Atomic) || out.cache & returnsBit)) {
    vector(out.to, bits(39, 32), of.to);
  }
  return true;
}

bool Decoder::decodeBuffer() {
  bool isCdna = generation == Generation::Cdna;
  if (!set(Encoding::MUBUF, isCdna ? bits(24, 18) : bits(25, 18), 2)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  if (isCdna) { // sc0, nt, sc1
    out.cache = uint8_t(bits(14, 14) | bits(17, 17) << 1 | bits(15, 15) << 2);
    out.hasOffset = bits(12, 12);
    out.hasIndex = bits(13, 13);
  } else { // glc, slc, dlc
    out.cache = uint8_t(bits(14, 14) | bits(12, 12) << 1 | bits(13, 13) << 2);
    out.hasOffset = bits(54, 54);
    out.hasIndex = bits(55, 55);
  }
  if (of.flags & NoOperands) {
    return true;
  }
  if (isCdna && bits(16, 16)) {
    return false; // to LDS
  }
  unsigned accumulator = isCdna && bits(55, 55) ? firstAccumulator : 0;
  out.offset = bits(11, 0);
  bool returns = out.cache & 1;
  if (out.hasOffset || out.hasIndex) {
    vector(out.vectorAddress, bits(39, 32),
           out.hasOffset && out.hasIndex ? Type::B64 : Type::B32);
  }
  scalarResult(out.resource, 4 * bits(52, 48), Type::B128);
  if (of.from[0] != Type::None) {
    vector(out.data[0], bits(47, 40) + accumulator, of.from[0]);
  }
  if (of.to != Type::None && (!(of.flags & Atomic) || returns)) {
    vector(out.to, bits(47, 40) + accumulator, of.to);
  }
  out.fromCount = 1;
  return source(out.from[0], bits(63, 56), Type::B32);
}

bool Decoder::decodeWideBuffer() {
  if (!set(Encoding::MUBUF, bits(21, 14), 3)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  out.cache = uint8_t(bits(54, 50));
  out.hasOffset = bits(62, 62);
  out.hasIndex = bits(63, 63);
  if (of.flags & NoOperands) {
    return true;
  }
  constexpr unsigned returnsBit = 1 << 2;
  out.offset = bits(95, 72);
  if (out.hasOffset || out.hasIndex) {
    vector(out.vectorAddress, bits(71, 64),
           out.hasOffset && out.hasIndex ? Type::B64 : Type::B32);
  }
  scalarResult(out.resource, bits(49, 41), Type::B128);
  if (of.from[0] != Type::None) {
    vector(out.data[0], bits(39, 32), of.from[0]);
  }
  if (of.to != Type::None && (!(of.flags & Atomic) || out.cache & returnsBit)) {
    vector(out.to, bits(39, 32), of.to);
  }
  out.fromCount = 1;
  scalarResult(out.from[0], bits(6, 0), Type::B32);
  return true;
}

} // namespace nereid::sim::amd
