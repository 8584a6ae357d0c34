//===- BitOps.cpp - Logic, shifts and fields ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.1 and 9.7.8, "Logic and Shift Instructions".
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <algorithm>

namespace nereid::sim {

template <typename T>
static T bitAnd(T a, T b) {
  return a & b;
}
template <typename T>
static T bitOr(T a, T b) {
  return a | b;
}
template <typename T>
static T bitXor(T a, T b) {
  return a ^ b;
}
template <typename T>
static T bitNot(T a) {
  return T(~a);
}
template <typename T>
static T logicalNot(T a) {
  return a == 0;
}
/// Amounts beyond the width shift everything out.
template <typename T>
static T shiftLeft(T a, uint32_t n) {
  return n < 8 * sizeof(T) ? T(uint64_t(a) << n) : T(0);
}
template <typename T>
static T shiftRight(T a, uint32_t n) {
  return T(a >> std::min<uint32_t>(n, 8 * sizeof(T) - 1) >>
           (n >= 8 * sizeof(T)));
}
static uint32_t funnelLeftWrap(uint32_t low, uint32_t high, uint32_t n) {
  uint64_t both = uint64_t(high) << 32 | low;
  return uint32_t(both << (n & 31) >> 32);
}
static uint32_t funnelRightWrap(uint32_t low, uint32_t high, uint32_t n) {
  uint64_t both = uint64_t(high) << 32 | low;
  return uint32_t(both >> (n & 31));
}
static uint32_t funnelLeftClamp(uint32_t low, uint32_t high, uint32_t n) {
  return n >= 32 ? low : funnelLeftWrap(low, high, n);
}
static uint32_t funnelRightClamp(uint32_t low, uint32_t high, uint32_t n) {
  return n >= 32 ? high : funnelRightWrap(low, high, n);
}
template <typename T>
static uint32_t leadingZeros(T a) {
  return uint32_t(std::countl_zero(a));
}
template <typename T>
static uint32_t populationCount(T a) {
  return uint32_t(std::popcount(a));
}
template <typename T>
static T reversed(T a) {
  T out = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
    out |= ((a >> i) & 1) << (8 * sizeof(T) - 1 - i);
  }
  return out;
}
/// The place of the highest bit that differs from the sign; ~0 for none.
template <typename T>
static uint32_t highestBit(T a) {
  auto bits = std::make_unsigned_t<T>(a < 0 ? ~a : a);
  return bits ? 8 * sizeof(T) - 1 - unsigned(std::countl_zero(bits)) : ~0u;
}
template <typename T>
static uint32_t highestBitShift(T a) {
  uint32_t place = highestBit(a);
  return place == ~0u ? place : 8 * sizeof(T) - 1 - place;
}
/// A field, extended with its own upper bit where it is signed.
template <typename T>
static T extractField(T a, uint32_t position, uint32_t length) {
  constexpr unsigned width = 8 * sizeof(T);
  unsigned p = position & 0xff, n = length & 0xff;
  bool isSigned = std::is_signed_v<T>;
  unsigned signAt = std::min(p + n - 1, width - 1);
  bool sign = isSigned && n && ((uint64_t(a) >> signAt) & 1);
  uint64_t out = 0;
  for (unsigned i = 0; i < width; ++i) {
    bool bit = i < n && p + i < width ? (uint64_t(a) >> (p + i)) & 1 : sign;
    out |= uint64_t(bit) << i;
  }
  return T(out);
}
template <typename T>
static T insertField(T a, T b, uint32_t position, uint32_t length) {
  constexpr unsigned width = 8 * sizeof(T);
  unsigned p = position & 0xff, n = length & 0xff;
  T out = b;
  for (unsigned i = 0; i < n && p + i < width; ++i) {
    T bit = T(1) << (p + i);
    out = ((a >> i) & 1) ? T(out | bit) : T(out & ~bit);
  }
  return out;
}
static uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned which = (selector >> (4 * i)) & 0xf;
    auto byte = uint8_t(both >> (8 * (which & 7)));
    if (which & 8) {
      byte = byte & 0x80 ? 0xff : 0;
    }
    out |= uint32_t(byte) << (8 * i);
  }
  return out;
}
static uint32_t lookUp3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t out = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i) & 1) {
      out |= ((i & 4) ? a : ~a) & ((i & 2) ? b : ~b) & ((i & 1) ? c : ~c);
    }
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

/// `detail[0]` is the truth table of the two sources.
static void mapPredicates(Warp &warp, const Instruction &instruction) {
  auto read = [&](size_t i) {
    uint32_t mask = warp.predicates[instruction.predicates[i]];
    return (instruction.detail[1] >> i) & 1 ? ~mask : mask;
  };
  uint32_t a = read(1);
  uint32_t b = instruction.predicates.size() > 2 ? read(2) : 0;
  uint64_t table = instruction.detail[0];
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if ((table >> i) & 1) {
      value |= ((i & 2) ? a : ~a) & ((i & 1) ? b : ~b);
    }
  }
  writePredicate(warp, instruction.predicates[0], value);
}

bool decodePredicateLogic(Decoder &d) {
  std::string_view op = d.word(0);
  bool isKnown =
      op == "and" || op == "or" || op == "xor" || op == "not" || op == "mov";
  if (d.lastWord() != "pred" || !isKnown) {
    return false;
  }
  d.made->detail[0] = op == "and"   ? 0b1000
                      : op == "or"  ? 0b1110
                      : op == "xor" ? 0b0110
                      : op == "not" ? 0b0011
                                    : 0b1100;
  if (op == "mov" && d.operand(1).kind == Operand::Kind::Number) {
    // Both rows of the table alike: a constant, of the register itself.
    d.made->detail[0] = d.operand(1).bits ? 0b1111 : 0;
    d.made->predicates = {d.predicate(d.operand(0)), d.predicate(d.operand(0))};
    d.made->execute = mapPredicates;
    return true;
  }
  for (size_t i = 0; i < d.operandCount(); ++i) {
    const Operand &operand = d.operand(i);
    if (i && operand.isNegated) {
      d.made->detail[1] |= uint64_t{1} << i;
    }
    if (i && operand.kind == Operand::Kind::Number) {
      d.refuse();
    }
    d.made->predicates.push_back(d.predicate(operand));
  }
  d.made->execute = mapPredicates;
  return true;
}

#define NEREID_SIM_BITS(op, f)                                                 \
  {op ".b16", mapLanes<f<uint16_t>>}, {op ".b32", mapLanes<f<uint32_t>>}, {    \
    op ".b64", mapLanes<f<uint64_t>>                                           \
  }

void addBitOps(MapTable &table) {
  table.insert({
      NEREID_SIM_BITS("and", bitAnd),
      NEREID_SIM_BITS("or", bitOr),
      NEREID_SIM_BITS("xor", bitXor),
      NEREID_SIM_BITS("not", bitNot),
      NEREID_SIM_BITS("cnot", logicalNot),
      NEREID_SIM_BITS("shl", shiftLeft),
      NEREID_SIM_BITS("shr", shiftRight),
      {"shr.u16", mapLanes<shiftRight<uint16_t>>},
      {"shr.u32", mapLanes<shiftRight<uint32_t>>},
      {"shr.u64", mapLanes<shiftRight<uint64_t>>},
      {"shr.s16", mapLanes<shiftRight<int16_t>>},
      {"shr.s32", mapLanes<shiftRight<int32_t>>},
      {"shr.s64", mapLanes<shiftRight<int64_t>>},
      {"shf.l.wrap.b32", mapLanes<funnelLeftWrap>},
      {"shf.r.wrap.b32", mapLanes<funnelRightWrap>},
      {"shf.l.clamp.b32", mapLanes<funnelLeftClamp>},
      {"shf.r.clamp.b32", mapLanes<funnelRightClamp>},
      {"clz.b32", mapLanes<leadingZeros<uint32_t>>},
      {"clz.b64", mapLanes<leadingZeros<uint64_t>>},
      {"popc.b32", mapLanes<populationCount<uint32_t>>},
      {"popc.b64", mapLanes<populationCount<uint64_t>>},
      {"brev.b32", mapLanes<reversed<uint32_t>>},
      {"brev.b64", mapLanes<reversed<uint64_t>>},
      {"bfind.s32", mapLanes<highestBit<int32_t>>},
      {"bfind.u32", mapLanes<highestBit<uint32_t>>},
      {"bfind.s64", mapLanes<highestBit<int64_t>>},
      {"bfind.u64", mapLanes<highestBit<uint64_t>>},
      {"bfind.shiftamt.s32", mapLanes<highestBitShift<int32_t>>},
      {"bfind.shiftamt.u32", mapLanes<highestBitShift<uint32_t>>},
      {"bfind.shiftamt.s64", mapLanes<highestBitShift<int64_t>>},
      {"bfind.shiftamt.u64", mapLanes<highestBitShift<uint64_t>>},
      {"bfe.s32", mapLanes<extractField<int32_t>>},
      {"bfe.u32", mapLanes<extractField<uint32_t>>},
      {"bfe.s64", mapLanes<extractField<int64_t>>},
      {"bfe.u64", mapLanes<extractField<uint64_t>>},
      {"bfi.b32", mapLanes<insertField<uint32_t>>},
      {"bfi.b64", mapLanes<insertField<uint64_t>>},
      {"prmt.b32", mapLanes<permuteBytes>},
      {"lop3.b32", mapLanes<lookUp3>},
  });
}

} // namespace nereid::sim
