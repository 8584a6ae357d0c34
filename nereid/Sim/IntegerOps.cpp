//===- IntegerOps.cpp - Arithmetic of integers ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.1, "Integer Arithmetic Instructions".
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <algorithm>
#include <limits>

namespace nereid::sim {

template <typename T>
using Bits = std::make_unsigned_t<T>;

template <typename T>
static T add(T a, T b) {
  return T(Bits<T>(a) + Bits<T>(b));
}
template <typename T>
static T sub(T a, T b) {
  return T(Bits<T>(a) - Bits<T>(b));
}
/// In 64 bits, for 16 would be multiplied as int.
template <typename T>
static T mulLow(T a, T b) {
  return T(uint64_t(a) * uint64_t(b));
}
template <typename T>
static T mulHigh(T a, T b) {
  using Wide =
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return T((Wide(a) * Wide(b)) >> (8 * sizeof(T)));
}
template <typename T, typename Wide>
static Wide mulWide(T a, T b) {
  return Wide(uint64_t(Wide(a)) * uint64_t(Wide(b)));
}
template <typename T>
static T madLow(T a, T b, T c) {
  return add(mulLow(a, b), c);
}
template <typename T>
static T madHigh(T a, T b, T c) {
  return add(mulHigh(a, b), c);
}
template <typename T, typename Wide>
static Wide madWide(T a, T b, Wide c) {
  return add(mulWide<T, Wide>(a, b), c);
}
/// Division by zero: all ones, and as remainder the dividend, as GPUs have it.
template <typename T>
static T div(T a, T b) {
  if (b == 0) {
    return T(~Bits<T>(0));
  }
  if (std::is_signed_v<T> && b == T(-1)) {
    return sub(T(0), a);
  }
  return T(a / b);
}
template <typename T>
static T rem(T a, T b) {
  if (b == 0) {
    return a;
  }
  if (std::is_signed_v<T> && b == T(-1)) {
    return 0;
  }
  return T(a % b);
}
template <typename T>
static T neg(T a) {
  return sub(T(0), a);
}
template <typename T>
static T absolute(T a) {
  return a < 0 ? neg(a) : a;
}
template <typename T>
static T minimum(T a, T b) {
  return std::min(a, b);
}
template <typename T>
static T maximum(T a, T b) {
  return std::max(a, b);
}
/// .relu: what is negative becomes zero.
static int32_t minimumPositive(int32_t a, int32_t b) {
  return std::max(std::min(a, b), 0);
}
static int32_t maximumPositive(int32_t a, int32_t b) {
  return std::max(std::max(a, b), 0);
}
static int32_t addSaturated(int32_t a, int32_t b) {
  return int32_t(std::clamp<int64_t>(int64_t(a) + b,
                                     std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int32_t>::max()));
}
static int32_t subSaturated(int32_t a, int32_t b) {
  return int32_t(std::clamp<int64_t>(int64_t(a) - b,
                                     std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int32_t>::max()));
}
template <typename T>
static uint32_t sumOfDifferences(T a, T b, T c) {
  return uint32_t(c) + uint32_t(std::max(a, b) - std::min(a, b));
}

/// Products of four bytes, added up. A and B: int8_t or uint8_t.
template <typename A, typename B>
static uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < 32; i += 8) {
    c += uint32_t(int32_t(A(a >> i)) * int32_t(B(b >> i)));
  }
  return c;
}

/// Half instructions, on both halves of a register.
template <auto Function>
static uint32_t twice(uint32_t a, uint32_t b) {
  return uint32_t(uint16_t(Function(uint16_t(a), uint16_t(b)))) |
         uint32_t(uint16_t(Function(uint16_t(a >> 16), uint16_t(b >> 16))))
             << 16;
}
template <auto Function>
static uint32_t twiceSigned(uint32_t a, uint32_t b) {
  return uint32_t(uint16_t(Function(int16_t(a), int16_t(b)))) |
         uint32_t(uint16_t(Function(int16_t(a >> 16), int16_t(b >> 16)))) << 16;
}

#define NEREID_SIM_BOTH(op, bits, f)                                           \
  {op ".s" #bits, mapLanes<f<int##bits##_t>>}, {                               \
    op ".u" #bits, mapLanes<f<uint##bits##_t>>                                 \
  }
#define NEREID_SIM_INTEGERS(op, f)                                             \
  NEREID_SIM_BOTH(op, 16, f), NEREID_SIM_BOTH(op, 32, f),                      \
      NEREID_SIM_BOTH(op, 64, f)

void addIntegerOps(MapTable &table) {
  table.insert({
      NEREID_SIM_INTEGERS("add", add),
      NEREID_SIM_INTEGERS("sub", sub),
      NEREID_SIM_INTEGERS("mul.lo", mulLow),
      NEREID_SIM_INTEGERS("mul.hi", mulHigh),
      NEREID_SIM_INTEGERS("mad.lo", madLow),
      NEREID_SIM_INTEGERS("mad.hi", madHigh),
      NEREID_SIM_INTEGERS("div", div),
      NEREID_SIM_INTEGERS("rem", rem),
      NEREID_SIM_INTEGERS("neg", neg),
      NEREID_SIM_INTEGERS("min", minimum),
      NEREID_SIM_INTEGERS("max", maximum),
      {"abs.s16", mapLanes<absolute<int16_t>>},
      {"abs.s32", mapLanes<absolute<int32_t>>},
      {"abs.s64", mapLanes<absolute<int64_t>>},
      {"min.relu.s32", mapLanes<minimumPositive>},
      {"max.relu.s32", mapLanes<maximumPositive>},
      {"add.sat.s32", mapLanes<addSaturated>},
      {"sub.sat.s32", mapLanes<subSaturated>},
      {"mul.wide.s16", mapLanes<mulWide<int16_t, int32_t>>},
      {"mul.wide.u16", mapLanes<mulWide<uint16_t, uint32_t>>},
      {"mul.wide.s32", mapLanes<mulWide<int32_t, int64_t>>},
      {"mul.wide.u32", mapLanes<mulWide<uint32_t, uint64_t>>},
      {"mad.wide.s16", mapLanes<madWide<int16_t, int32_t>>},
      {"mad.wide.u16", mapLanes<madWide<uint16_t, uint32_t>>},
      {"mad.wide.s32", mapLanes<madWide<int32_t, int64_t>>},
      {"mad.wide.u32", mapLanes<madWide<uint32_t, uint64_t>>},
      {"sad.s32", mapLanes<sumOfDifferences<int32_t>>},
      {"sad.u32", mapLanes<sumOfDifferences<uint32_t>>},
      {"dp4a.s32.s32", mapLanes<dp4a<int8_t, int8_t>>},
      {"dp4a.u32.u32", mapLanes<dp4a<uint8_t, uint8_t>>},
      {"dp4a.s32.u32", mapLanes<dp4a<int8_t, uint8_t>>},
      {"dp4a.u32.s32", mapLanes<dp4a<uint8_t, int8_t>>},
      {"add.u16x2", mapLanes<twice<add<uint16_t>>>},
      {"add.s16x2", mapLanes<twice<add<uint16_t>>>},
      {"min.u16x2", mapLanes<twice<minimum<uint16_t>>>},
      {"max.u16x2", mapLanes<twice<maximum<uint16_t>>>},
      {"min.s16x2", mapLanes<twiceSigned<minimum<int16_t>>>},
      {"max.s16x2", mapLanes<twiceSigned<maximum<int16_t>>>},
  });
}

} // namespace nereid::sim
