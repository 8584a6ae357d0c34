//===- ConvertOps.cpp - One type of number to another ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/NarrowFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::sim::amd {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;

template <typename To, typename From>
static To exact(From a) {
  return To(a);
}

/// Towards zero; what does not fit becomes the nearest that does, a NaN 0.
template <typename To>
static To saturated(double a) {
  if (std::isnan(a)) {
    return 0;
  }
  using Limits = std::numeric_limits<To>;
  a = std::trunc(a);
  return a <= double(Limits::min())   ? Limits::min()
         : a >= double(Limits::max()) ? Limits::max()
                                      : To(a);
}
template <typename To>
static To toInteger(float a) {
  return saturated<To>(a);
}
template <typename To>
static To doubleToInteger(double a) {
  return saturated<To>(a);
}
static i32 toNearest(float a) {
  return saturated<i32>(std::floor(double(a) + 0.5));
}
static i32 toFloor(float a) { return saturated<i32>(std::floor(a)); }

static Half toHalf(float a) { return Half::of(a); }
static float fromHalf(Half a) { return float(a.value()); }
static Half integerToHalf(i16 a) { return Half::of(a); }
static Half unsignedToHalf(u16 a) { return Half::of(a); }
static i16 halfToInteger(Half a) { return saturated<i16>(a.value()); }
static u16 halfToUnsigned(Half a) { return saturated<u16>(a.value()); }
template <unsigned Byte>
static float byteToFloat(u32 a) {
  return float(a >> (8 * Byte) & 0xff);
}

/// Two floats to the halves of a word.
static u32 packHalves(float a, float b) {
  auto one = [](float x) { return encode(x, f16Format, Rounding::Zero); };
  return one(a) | one(b) << 16;
}
static u32 packBfloats(float a, float b) {
  auto one = [](float x) {
    return encode(x, bf16Format, Rounding::NearestEven);
  };
  return one(a) | one(b) << 16;
}
static u32 joinHalves(u16 a, u16 b) { return a | u32(b) << 16; }

/// V_CVT_PK_FP8_F32: two floats to one half of a word.
template <NarrowFloat Kind>
static void packBytes(Wave &wave, const Instruction &instruction) {
  Lanes from[2];
  uint64_t valid = wave.exec();
  wave.readSource(instruction, 0, from[0], valid);
  wave.readSource(instruction, 1, from[1], valid);
  bool isHigh = instruction.select & 8;
  forMask(valid, [&](unsigned lane) {
    u32 pair = 0;
    for (unsigned i = 0; i < 2; ++i) {
      pair |= narrowOf(wave, Kind, std::bit_cast<float>(u32(from[i][lane])))
              << (8 * i);
    }
    u32 old = wave.lane(instruction.to, 0, lane);
    wave.writeLane(instruction.to, 0, lane,
                   isHigh ? (old & 0xffff) | pair << 16
                          : (old & 0xffff0000) | pair);
  });
}

/// One byte of a word, which SDWA or the select bits name.
template <NarrowFloat Kind>
static void unpackByte(Wave &wave, const Instruction &instruction) {
  Lanes from;
  uint64_t valid = wave.exec();
  wave.readSource(instruction, 0, from, valid);
  unsigned byte =
      instruction.variant == Variant::E64
          ? (instruction.select & 1) * 2 + (instruction.select >> 1 & 1)
          : 0;
  forMask(valid, [&](unsigned lane) {
    auto value =
        float(narrowValue(wave, Kind, u32(from[lane] >> (8 * byte)) & 0xff));
    wave.writeLane(instruction.to, 0, lane, std::bit_cast<u32>(value));
  });
}

/// Two bytes of a word.
template <NarrowFloat Kind>
static void unpackTwo(Wave &wave, const Instruction &instruction) {
  Lanes from;
  uint64_t valid = wave.exec();
  wave.readSource(instruction, 0, from, valid);
  unsigned shift =
      instruction.variant == Variant::E64 && instruction.select & 1 ? 16 : 0;
  forMask(valid, [&](unsigned lane) {
    for (unsigned i = 0; i < 2; ++i) {
      auto value = float(
          narrowValue(wave, Kind, u32(from[lane] >> (shift + 8 * i)) & 0xff));
      wave.writeLane(instruction.to, i, lane, std::bit_cast<u32>(value));
    }
  });
}

std::span<const Semantics> convertFamily() {
  constexpr std::array<Type, 4> floats = {Type::F32, Type::F32},
                                word = {Type::B32};
  static const std::vector<Semantics> rows = {
      lanesOf<exact<float, i32>>("v_cvt_f32_i32"),
      lanesOf<exact<float, u32>>("v_cvt_f32_u32"),
      lanesOf<exact<double, i32>>("v_cvt_f64_i32"),
      lanesOf<exact<double, u32>>("v_cvt_f64_u32"),
      lanesOf<exact<double, float>>("v_cvt_f64_f32"),
      lanesOf<exact<float, double>>("v_cvt_f32_f64"),
      lanesOf<toInteger<i32>>("v_cvt_i32_f32"),
      lanesOf<toInteger<u32>>("v_cvt_u32_f32"),
      lanesOf<doubleToInteger<i32>>("v_cvt_i32_f64"),
      lanesOf<doubleToInteger<u32>>("v_cvt_u32_f64"),
      lanesOf<toNearest>("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32"),
      lanesOf<toFloor>("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32"),
      lanesOf<toHalf>("v_cvt_f16_f32"),
      lanesOf<fromHalf>("v_cvt_f32_f16"),
      lanesOf<integerToHalf>("v_cvt_f16_i16"),
      lanesOf<unsignedToHalf>("v_cvt_f16_u16"),
      lanesOf<halfToInteger>("v_cvt_i16_f16"),
      lanesOf<halfToUnsigned>("v_cvt_u16_f16"),
      lanesOf<byteToFloat<0>>("v_cvt_f32_ubyte0"),
      lanesOf<byteToFloat<1>>("v_cvt_f32_ubyte1"),
      lanesOf<byteToFloat<2>>("v_cvt_f32_ubyte2"),
      lanesOf<byteToFloat<3>>("v_cvt_f32_ubyte3"),
      lanesOf<packHalves>("v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32"),
      lanesOf<packBfloats>("v_cvt_pk_bf16_f32"),
      lanesOf<joinHalves>("v_pack_b32_f16"),
      custom("v_cvt_pk_fp8_f32", packBytes<NarrowFloat::E4M3>, Type::B32,
             floats),
      custom("v_cvt_pk_bf8_f32", packBytes<NarrowFloat::E5M2>, Type::B32,
             floats),
      custom("v_cvt_f32_fp8", unpackByte<NarrowFloat::E4M3>, Type::B32, word),
      custom("v_cvt_f32_bf8", unpackByte<NarrowFloat::E5M2>, Type::B32, word),
      custom("v_cvt_pk_f32_fp8", unpackTwo<NarrowFloat::E4M3>, Type::B64, word),
      custom("v_cvt_pk_f32_bf8", unpackTwo<NarrowFloat::E5M2>, Type::B64, word),
  };
  return rows;
}

} // namespace nereid::sim::amd
