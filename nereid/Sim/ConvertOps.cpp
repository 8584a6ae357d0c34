//===- ConvertOps.cpp - Conversions of numbers ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.9, cvt and cvt.pack. `detail`: types and modes.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::sim {

namespace {

struct NumberType {
  const char *name;
  bool isFloat, isSigned;
  unsigned bits;
  const FloatFormat *format = nullptr; ///< null for f64 and integers
};

/// What a conversion does, in Instruction::detail.
struct Mode {
  uint8_t from, to;     ///< rows of numberTypes
  uint8_t rounding;     ///< of Rounding
  bool toInteger : 1;   ///< rni and its like, between floats
  bool saturates : 1;   ///< .sat: to [0, 1], or the integers' range
  bool staysFinite : 1; ///< .satfinite
  bool isPositive : 1;  ///< .relu
  bool flushes : 1;     ///< .ftz
  uint8_t registerBits; ///< of the result
};

} // namespace

static constexpr NumberType numberTypes[] = {
    {"u8", false, false, 8},
    {"s8", false, true, 8},
    {"u16", false, false, 16},
    {"s16", false, true, 16},
    {"u32", false, false, 32},
    {"s32", false, true, 32},
    {"u64", false, false, 64},
    {"s64", false, true, 64},
    {"f16", true, true, 16, &f16Format},
    {"bf16", true, true, 16, &bf16Format},
    {"tf32", true, true, 32, &tf32Format},
    {"f32", true, true, 32, &f32Format},
    {"f64", true, true, 64},
    {"e4m3", true, true, 8, &e4m3Format},
    {"e5m2", true, true, 8, &e5m2Format},
    {"e2m1", true, true, 4, &e2m1Format},
    {"e2m3", true, true, 8, &e2m3Format},
    {"e3m2", true, true, 8, &e3m2Format},
};

static uint8_t typeIndex(Decoder &d, std::string_view name) {
  for (const NumberType &type : numberTypes) {
    if (name == type.name) {
      return uint8_t(&type - numberTypes);
    }
  }
  d.refuse();
}

static double readFloat(uint64_t slot, const NumberType &type) {
  if (type.bits == 64) {
    return std::bit_cast<double>(slot);
  }
  if (type.bits == 32) {
    return double(std::bit_cast<float>(uint32_t(slot)));
  }
  return decode(uint32_t(slot) & ((1u << type.bits) - 1), *type.format);
}

static uint64_t writeFloat(double value, const NumberType &type,
                           const Mode &mode) {
  if (type.bits == 64) {
    return std::bit_cast<uint64_t>(value);
  }
  auto rounding = Rounding(mode.rounding);
  if (type.format == &f32Format && rounding == Rounding::NearestEven) {
    return std::bit_cast<uint32_t>(float(value));
  }
  uint32_t bits = encode(value, *type.format, rounding, mode.staysFinite);
  // tf32 is kept in the upper bits of a float.
  return type.format == &tf32Format ? bits << 13 : bits;
}

static int64_t signExtend(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

static uint64_t zeroExtend(uint64_t value, unsigned bits) {
  return value & lowBits(bits);
}

/// Too large numbers become the nearest integer of the type, NaNs zero.
static uint64_t integerFromFloat(double value, const NumberType &type) {
  if (std::isnan(value)) {
    return 0;
  }
  if (type.isSigned) {
    double limit = std::ldexp(1.0, int(type.bits) - 1);
    int64_t most = std::numeric_limits<int64_t>::max() >> (64 - type.bits);
    return value >= limit    ? uint64_t(most)
           : value <= -limit ? uint64_t(-most - 1)
                             : uint64_t(int64_t(value));
  }
  double limit = std::ldexp(1.0, int(type.bits));
  return value >= limit ? zeroExtend(~uint64_t{0}, type.bits)
         : value <= 0   ? 0
                        : uint64_t(value);
}

static uint64_t integerFromInteger(uint64_t slot, const NumberType &from,
                                   const NumberType &to, bool saturates) {
  uint64_t value = from.isSigned ? uint64_t(signExtend(slot, from.bits))
                                 : zeroExtend(slot, from.bits);
  if (!saturates) {
    return value;
  }
  bool isNegative = from.isSigned && int64_t(value) < 0;
  if (!to.isSigned) {
    uint64_t most = zeroExtend(~uint64_t{0}, to.bits);
    return isNegative ? 0 : std::min(value, most);
  }
  int64_t most = std::numeric_limits<int64_t>::max() >> (64 - to.bits);
  if (isNegative) {
    return uint64_t(std::max(int64_t(value), -most - 1));
  }
  return std::min(value, uint64_t(most));
}

static double floatFromInteger(uint64_t slot, const NumberType &from,
                               const NumberType &to, Rounding rounding) {
  // Of 64 bits not all fit a double: f32 is rounded from the integer itself.
  if (from.bits == 64 && to.format == &f32Format &&
      rounding == Rounding::NearestEven) {
    return from.isSigned ? double(float(int64_t(slot))) : double(float(slot));
  }
  return from.isSigned ? double(signExtend(slot, from.bits))
                       : double(zeroExtend(slot, from.bits));
}

static uint64_t convertNumber(uint64_t slot, const Mode &mode) {
  const NumberType &from = numberTypes[mode.from], &to = numberTypes[mode.to];
  if (!from.isFloat && !to.isFloat) {
    return integerFromInteger(slot, from, to, mode.saturates);
  }
  if (!from.isFloat) {
    return writeFloat(floatFromInteger(slot, from, to, Rounding(mode.rounding)),
                      to, mode);
  }
  double value = readFloat(slot, from);
  if (mode.flushes && std::fabs(value) < std::ldexp(1.0, -126)) {
    value = std::copysign(0.0, value);
  }
  if (!to.isFloat || mode.toInteger) {
    value = roundToInteger(value, Rounding(mode.rounding));
  }
  if (!to.isFloat) {
    return integerFromFloat(value, to);
  }
  if (mode.saturates) {
    value = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
  }
  if (mode.isPositive && value < 0) {
    value = 0;
  }
  return writeFloat(value, to, mode);
}

static Mode modeOf(const Instruction &instruction) {
  return std::bit_cast<Mode>(std::array<uint8_t, sizeof(Mode)>{
      uint8_t(instruction.detail[0]), uint8_t(instruction.detail[0] >> 8),
      uint8_t(instruction.detail[0] >> 16),
      uint8_t(instruction.detail[0] >> 24),
      uint8_t(instruction.detail[0] >> 32)});
}

/// A narrow integer is extended to its register, by its sign if it has one.
static void convert(Warp &warp, const Instruction &instruction) {
  Mode mode = modeOf(instruction);
  const LaneVector &from = warp.at(instruction.from[0]);
  LaneVector &to = warp.at(instruction.to[0]);
  const NumberType &type = numberTypes[mode.to];
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t value = convertNumber(from[lane], mode);
    if (!type.isFloat) {
      value = type.isSigned ? uint64_t(signExtend(value, type.bits))
                            : zeroExtend(value, type.bits);
    }
    to[lane] = zeroExtend(value, mode.registerBits);
  });
}

/// Two sources to two numbers of a register: the first becomes the upper one.
static void convertPair(Warp &warp, const Instruction &instruction) {
  Mode mode = modeOf(instruction);
  unsigned bits = numberTypes[mode.to].bits;
  const LaneVector &upper = warp.at(instruction.from[0]);
  const LaneVector &lower = warp.at(instruction.from[1]);
  LaneVector &to = warp.at(instruction.to[0]);
  forLanes(warp.active, [&](unsigned lane) {
    to[lane] = convertNumber(upper[lane], mode) << bits |
               convertNumber(lower[lane], mode);
  });
}

/// Two numbers of a register to two.
static void convertBoth(Warp &warp, const Instruction &instruction) {
  Mode mode = modeOf(instruction);
  unsigned toBits = numberTypes[mode.to].bits;
  unsigned fromBits = numberTypes[mode.from].bits;
  const LaneVector &from = warp.at(instruction.from[0]);
  LaneVector &to = warp.at(instruction.to[0]);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t upper = from[lane] >> fromBits;
    uint64_t lower = from[lane] & ((uint64_t{1} << fromBits) - 1);
    to[lane] =
        convertNumber(upper, mode) << toBits | convertNumber(lower, mode);
  });
}

static void decodeCvt(Decoder &d) {
  const std::vector<std::string_view> &words = d.statement->words;
  if (words.size() < 3) {
    d.refuse();
  }
  std::string_view from = words.back(), to = words[words.size() - 2];
  Mode mode{};
  bool isPairTo = to.ends_with("x2"), isPairFrom = from.ends_with("x2");
  mode.from = typeIndex(d, isPairFrom ? from.substr(0, from.size() - 2) : from);
  mode.to = typeIndex(d, isPairTo ? to.substr(0, to.size() - 2) : to);
  mode.rounding = uint8_t(Rounding::NearestEven);
  for (size_t i = 1; i + 2 < words.size(); ++i) {
    std::string_view word = words[i];
    if (word == "sat") {
      mode.saturates = true;
    } else if (word == "satfinite") {
      mode.staysFinite = true;
    } else if (word == "relu") {
      mode.isPositive = true;
    } else if (word == "ftz") {
      mode.flushes = true;
    } else if (word == "rn" || word == "rni") {
      mode.toInteger = word == "rni";
    } else if (word == "rna") {
      mode.rounding = uint8_t(Rounding::NearestAway);
    } else if (word == "rz" || word == "rzi") {
      mode.rounding = uint8_t(Rounding::Zero);
      mode.toInteger = word == "rzi";
    } else if (word == "rm" || word == "rmi") {
      mode.rounding = uint8_t(Rounding::Down);
      mode.toInteger = word == "rmi";
    } else if (word == "rp" || word == "rpi") {
      mode.rounding = uint8_t(Rounding::Up);
      mode.toInteger = word == "rpi";
    } else {
      d.refuse();
    }
  }
  mode.registerBits = uint8_t(d.bitsOf(d.operand(0)));
  auto bytes = std::bit_cast<std::array<uint8_t, sizeof(Mode)>>(mode);
  static_assert(sizeof(Mode) == 5);
  for (size_t i = 0; i < bytes.size(); ++i) {
    d.made->detail[0] |= uint64_t(bytes[i]) << (8 * i);
  }
  d.plain(!isPairTo ? convert : isPairFrom ? convertBoth : convertPair);
  if (d.made->from.size() != (isPairTo && !isPairFrom ? 2 : 1) ||
      (isPairFrom && !isPairTo)) {
    d.refuse();
  }
}

/// cvt.pack.sat.s8.s32.b32 d, a, b, c: c's two lower bytes, with a and b in
/// front of them.
static void packBytes(Warp &warp, const Instruction &instruction) {
  bool isSigned = instruction.detail[0];
  const LaneVector &a = warp.at(instruction.from[0]);
  const LaneVector &b = warp.at(instruction.from[1]);
  const LaneVector &c = warp.at(instruction.from[2]);
  LaneVector &to = warp.at(instruction.to[0]);
  auto narrow = [&](uint64_t slot) {
    auto value = int32_t(slot);
    return uint32_t(isSigned ? std::clamp(value, -128, 127)
                             : std::clamp(value, 0, 255)) &
           0xff;
  };
  forLanes(warp.active, [&](unsigned lane) {
    to[lane] = uint32_t(c[lane] << 16) | narrow(a[lane]) << 8 | narrow(b[lane]);
  });
}

static void decodeConversion(Decoder &d) {
  if (d.word(1) != "pack") {
    return decodeCvt(d);
  }
  bool isKnown = d.word(2) == "sat" && d.word(4) == "s32" &&
                 d.word(5) == "b32" && (d.word(3) == "s8" || d.word(3) == "u8");
  if (!isKnown) {
    d.refuse();
  }
  d.plain(packBytes);
  d.made->detail[0] = d.word(3) == "s8";
}

void addConvertOps(DecodeTable &table) { table["cvt"] = decodeConversion; }

} // namespace nereid::sim
