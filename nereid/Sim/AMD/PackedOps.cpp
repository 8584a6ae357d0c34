//===- PackedOps.cpp - Two numbers in a register, and mixed ones ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Extrema.h"
#include "nereid/Sim/AMD/Functions.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim::amd {

using u16 = uint16_t;
using i16 = int16_t;

static Half add(Half a, Half b) { return Half::of(a.value() + b.value()); }
static Half multiply(Half a, Half b) { return Half::of(a.value() * b.value()); }
static Half fused(Half a, Half b, Half c) {
  return Half::of(fmaForRounding(a.value(), b.value(), c.value()));
}
static Half maximum(Half a, Half b) {
  return std::isnan(a.value())   ? b
         : std::isnan(b.value()) ? a
         : a.value() < b.value() ? b
                                 : a;
}
static Half minimum(Half a, Half b) {
  return std::isnan(a.value())   ? b
         : std::isnan(b.value()) ? a
         : b.value() < a.value() ? b
                                 : a;
}
/// The forms for floats, of halves, which are exact there.
template <double (*form)(double, double)>
static Half ofHalves(Half a, Half b) {
  return Half::of(form(a.value(), b.value()));
}
static float addFloats(float a, float b) { return a + b; }
static float multiplyFloats(float a, float b) { return a * b; }
static float fusedFloats(float a, float b, float c) {
  return std::fma(a, b, c);
}
template <typename T>
static T addIntegers(T a, T b) {
  return T(a + b);
}
template <typename T>
static T subtractIntegers(T a, T b) {
  return T(a - b);
}
static u16 multiplyIntegers(u16 a, u16 b) { return u16(unsigned(a) * b); }
static u16 multiplyAddIntegers(u16 a, u16 b, u16 c) {
  return u16(unsigned(a) * b + c);
}
template <typename T>
static T smaller(T a, T b) {
  return std::min(a, b);
}
template <typename T>
static T larger(T a, T b) {
  return std::max(a, b);
}
template <typename T>
static T shiftLeft(T by, T a) {
  return T(a << (by & 15));
}
template <typename T>
static T shiftRight(T by, T a) {
  return T(a >> (by & 15));
}

/// The half of each source that the result's `high` half is made of.
static void readPacked(const Wave &wave, const Instruction &instruction,
                       unsigned which, bool high, Lanes &to) {
  const Operand &operand = instruction.from[which];
  uint8_t selects = high ? instruction.selectHigh : instruction.select;
  uint8_t negates = high ? instruction.negateHigh : instruction.negate;
  bool takesHigh = selects >> which & 1, isNegated = negates >> which & 1;
  uint64_t sign;
  if (operand.type == Type::PkF32) {
    // Of two registers; a constant stands for both.
    bool isPair = operand.kind == Operand::Kind::Vector ||
                  operand.kind == Operand::Kind::Scalar;
    wave.readWords(operand, takesHigh && isPair ? 1 : 0, to);
    sign = 0x80000000u;
  } else {
    wave.readWords(operand, 0, to);
    for (uint64_t &value : to) {
      value = value >> (takesHigh ? 16 : 0) & 0xffff;
    }
    sign = 0x8000;
  }
  if (isNegated && isFloat(operand.type)) {
    for (uint64_t &value : to) {
      value ^= sign;
    }
  }
}

template <auto F, typename Out, typename... In, size_t... I>
static void packedEach(Wave &wave, const Instruction &instruction,
                       Out (*)(In...), std::index_sequence<I...>) {
  Lanes results[2];
  for (unsigned high = 0; high < 2; ++high) {
    Lanes from[sizeof...(In)];
    (readPacked(wave, instruction, I, high, from[I]), ...);
    forMask(wave.exec(), [&](unsigned lane) {
      results[high][lane] = toSlot<Out>(F(fromSlot<In>(from[I][lane])...));
    });
  }
  forMask(wave.exec(), [&](unsigned lane) {
    if (sizeof(Out) == 4) {
      wave.writeLane(instruction.to, 0, lane, uint32_t(results[0][lane]));
      wave.writeLane(instruction.to, 1, lane, uint32_t(results[1][lane]));
    } else {
      wave.writeLane(
          instruction.to, 0, lane,
          uint32_t((results[0][lane] & 0xffff) | results[1][lane] << 16));
    }
  });
}

template <auto F, typename Out, typename... In>
static Semantics describePacked(std::string_view names, Out (*)(In...)) {
  constexpr Type type = std::is_same_v<Out, float>  ? Type::PkF32
                        : std::is_same_v<Out, Half> ? Type::PkF16
                                                    : Type::PkB16;
  Semantics of;
  of.names = names;
  of.execute = [](Wave &wave, const Instruction &instruction) {
    packedEach<F>(wave, instruction, +F, std::index_sequence_for<In...>());
  };
  of.to = type;
  for (size_t i = 0; i < sizeof...(In); ++i) {
    of.from[i] = type;
  }
  return of;
}

template <auto F>
static Semantics packedOf(std::string_view names) {
  return describePacked<F>(names, +F);
}

//===----------------------------------------------------------------------===//
// V_FMA_MIX: each source is a float or a half
//===----------------------------------------------------------------------===//

static float mixed(Wave &wave, const Instruction &instruction, unsigned which,
                   uint64_t bits) {
  (void)wave;
  return instruction.from[which].type == Type::F16
             ? float(Half{uint16_t(bits)}.value())
             : std::bit_cast<float>(uint32_t(bits));
}

/// `detail`: 0 gives a float, 1 the lower half, 2 the upper half of the result.
static void mix(Wave &wave, const Instruction &instruction) {
  Lanes from[3];
  uint64_t valid = wave.exec();
  for (unsigned i = 0; i < 3; ++i) {
    wave.readSource(instruction, i, from[i], valid);
  }
  unsigned half = instruction.semantics->detail;
  forMask(valid, [&](unsigned lane) {
    float a = mixed(wave, instruction, 0, from[0][lane]),
          b = mixed(wave, instruction, 1, from[1][lane]),
          c = mixed(wave, instruction, 2, from[2][lane]);
    if (half == 0) {
      float value = std::fma(a, b, c);
      if (instruction.clamps) {
        value = value > 0 ? std::min(value, 1.0f) : 0;
      }
      wave.writeLane(instruction.to, 0, lane, std::bit_cast<uint32_t>(value));
      return;
    }
    double value = fmaForRounding(a, b, c);
    if (instruction.clamps) {
      value = value > 0 ? std::min(value, 1.0) : 0;
    }
    uint32_t bits = Half::of(value).bits,
             old = wave.lane(instruction.to, 0, lane);
    wave.writeLane(instruction.to, 0, lane,
                   half == 2 ? (old & 0xffff) | bits << 16
                             : (old & 0xffff0000) | bits);
  });
}

/// f32 + the products of two pairs of halves.
static float dotHalves(uint32_t a, uint32_t b, float c) {
  auto half = [](uint32_t of, unsigned shift) {
    return Half{uint16_t(of >> shift)}.value();
  };
  return float(half(a, 0) * half(b, 0) + half(a, 16) * half(b, 16) + c);
}
static float dotBfloats(uint32_t a, uint32_t b, float c) {
  auto half = [](uint32_t of, unsigned shift) {
    return BFloat{uint16_t(of >> shift)}.value();
  };
  return float(half(a, 0) * half(b, 0) + half(a, 16) * half(b, 16) + c);
}

std::span<const Semantics> packedFamily() {
  constexpr std::array<Type, 4> mixes = {Type::F32, Type::F32, Type::F32};
  static const std::vector<Semantics> rows = {
      packedOf<add>("v_pk_add_f16"),
      packedOf<multiply>("v_pk_mul_f16"),
      packedOf<fused>("v_pk_fma_f16"),
      packedOf<maximum>("v_pk_max_f16 v_pk_max_num_f16"),
      packedOf<ofHalves<maximumOrNan<double>>>("v_pk_maximum_f16"),
      packedOf<ofHalves<minimumOrNan<double>>>("v_pk_minimum_f16"),
      packedOf<minimum>("v_pk_min_f16 v_pk_min_num_f16"),
      packedOf<addFloats>("v_pk_add_f32"),
      packedOf<multiplyFloats>("v_pk_mul_f32"),
      packedOf<fusedFloats>("v_pk_fma_f32"),
      packedOf<addIntegers<u16>>("v_pk_add_u16 v_pk_add_i16"),
      packedOf<subtractIntegers<u16>>("v_pk_sub_u16 v_pk_sub_i16"),
      packedOf<multiplyIntegers>("v_pk_mul_lo_u16"),
      packedOf<multiplyAddIntegers>("v_pk_mad_u16 v_pk_mad_i16"),
      packedOf<smaller<i16>>("v_pk_min_i16"),
      packedOf<smaller<u16>>("v_pk_min_u16"),
      packedOf<larger<i16>>("v_pk_max_i16"),
      packedOf<larger<u16>>("v_pk_max_u16"),
      packedOf<shiftLeft<u16>>("v_pk_lshlrev_b16"),
      packedOf<shiftRight<u16>>("v_pk_lshrrev_b16"),
      packedOf<shiftRight<i16>>("v_pk_ashrrev_i16"),
      custom("v_fma_mix_f32", mix, Type::F32, mixes, MixedHalves, 0),
      custom("v_fma_mixlo_f16", mix, Type::F32, mixes, MixedHalves, 1),
      custom("v_fma_mixhi_f16", mix, Type::F32, mixes, MixedHalves, 2),
      lanesOf<dotHalves>("v_dot2_f32_f16"),
      lanesOf<dotHalves>("v_dot2c_f32_f16 v_dot2acc_f32_f16", ReadsTo),
      lanesOf<dotBfloats>("v_dot2_f32_bf16"),
  };
  return rows;
}

} // namespace nereid::sim::amd
