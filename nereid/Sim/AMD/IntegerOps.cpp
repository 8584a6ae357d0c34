//===- IntegerOps.cpp - Integers of lanes ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace nereid::sim::amd {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

template <typename T>
static T move(T a) {
  return a;
}
template <typename T>
static T add(T a, T b) {
  return T(a + b);
}
template <typename T>
static T subtract(T a, T b) {
  return T(a - b);
}
template <typename T>
static T subtractReversed(T a, T b) {
  return T(b - a);
}
/// With CLAMP: the nearest number that there is.
template <typename T>
static T nearest(i64 of) {
  return T(std::clamp<i64>(of, std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max()));
}
template <typename T>
static T addClamped(T a, T b) {
  return nearest<T>(i64(a) + b);
}
template <typename T>
static T subtractClamped(T a, T b) {
  return nearest<T>(i64(a) - b);
}
template <typename T>
static T subtractReversedClamped(T a, T b) {
  return nearest<T>(i64(b) - a);
}
template <typename T>
static T multiply(T a, T b) {
  return T(u64(a) * b);
}
static u32 multiplyHigh(u32 a, u32 b) { return u32(u64(a) * b >> 32); }
static i32 multiplyHighSigned(i32 a, i32 b) { return i32(i64(a) * b >> 32); }
/// The lower 24 bits as a signed number.
static i64 low24(u32 a) { return i32(a << 8) >> 8; }
static u32 multiply24(u32 a, u32 b) {
  return u32(u64(a & 0xffffff) * (b & 0xffffff));
}
static u32 multiplyHigh24(u32 a, u32 b) {
  return u32(u64(a & 0xffffff) * (b & 0xffffff) >> 32);
}
static u32 multiplySigned24(u32 a, u32 b) { return u32(low24(a) * low24(b)); }
static u32 multiplyHighSigned24(u32 a, u32 b) {
  return u32(low24(a) * low24(b) >> 32);
}
static u32 multiplyAdd24(u32 a, u32 b, u32 c) { return multiply24(a, b) + c; }
static u32 multiplyAddSigned24(u32 a, u32 b, u32 c) {
  return multiplySigned24(a, b) + c;
}
static u64 multiplyAddLong(u32 a, u32 b, u64 c, bool &carry) {
  return carry = __builtin_add_overflow(u64(a) * b, c, &c), c;
}
static i64 multiplyAddLongSigned(i32 a, i32 b, i64 c, bool &carry) {
  return carry = __builtin_add_overflow(i64(a) * b, c, &c), c;
}

static u32 addCarry(u32 a, u32 b, bool &carry) {
  u64 sum = u64(a) + b;
  carry = sum >> 32;
  return u32(sum);
}
static u32 subtractBorrow(u32 a, u32 b, bool &borrow) {
  borrow = b > a;
  return a - b;
}
static u32 subtractReversedBorrow(u32 a, u32 b, bool &borrow) {
  return subtractBorrow(b, a, borrow);
}
static u32 addWithCarry(u32 a, u32 b, bool in, bool &out) {
  u64 sum = u64(a) + b + in;
  out = sum >> 32;
  return u32(sum);
}
static u32 subtractWithBorrow(u32 a, u32 b, bool in, bool &out) {
  u64 taken = u64(b) + in;
  out = taken > a;
  return u32(a - taken);
}
static u32 subtractReversedWithBorrow(u32 a, u32 b, bool in, bool &out) {
  return subtractWithBorrow(b, a, in, out);
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
static T largestSmaller(T a, T b, T c) {
  return std::min(std::max(a, b), c);
}
template <typename T>
static T smallestLarger(T a, T b, T c) {
  return std::max(std::min(a, b), c);
}
/// The low bits.
template <typename T>
static T multipliedSum(T a, T b, T c) {
  return T(uint32_t(a) * b + c);
}
template <typename T>
static T smallest(T a, T b, T c) {
  return std::min({a, b, c});
}
template <typename T>
static T largest(T a, T b, T c) {
  return std::max({a, b, c});
}
template <typename T>
static T middle(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

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
static u32 bitXnor(u32 a, u32 b) { return ~(a ^ b); }
static u32 bitOr3(u32 a, u32 b, u32 c) { return a | b | c; }
static u32 bitXor3(u32 a, u32 b, u32 c) { return a ^ b ^ c; }
static u32 andOr(u32 a, u32 b, u32 c) { return (a & b) | c; }
static u32 addThree(u32 a, u32 b, u32 c) { return a + b + c; }
static u32 xorAdd(u32 a, u32 b, u32 c) { return (a ^ b) + c; }
static u32 shiftAdd(u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }
static u64 shiftAddLong(u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }
static u32 addShift(u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }
static u32 shiftOr(u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }

/// The shift comes first.
template <typename T, typename Count>
static T shiftLeft(Count by, T a) {
  return T(a << (by & (sizeof(T) * 8 - 1)));
}
template <typename T, typename Count>
static T shiftRight(Count by, T a) {
  return T(a >> (by & (sizeof(T) * 8 - 1)));
}
static u32 alignBits(u32 a, u32 b, u32 c) {
  return u32((u64(a) << 32 | b) >> (c & 31));
}
static u32 alignBytes(u32 a, u32 b, u32 c) {
  return u32((u64(a) << 32 | b) >> (8 * (c & 3)));
}
template <typename T>
static T bitField(T a, u32 at, u32 width) {
  at &= 31;
  width &= 31;
  T value = a >> at;
  return width ? T(u32(value) << (32 - width)) >> (32 - width) : 0;
}
static u32 bitInsert(u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }
static u32 bitMask(u32 count, u32 at) {
  return ((1u << (count & 31)) - 1) << (at & 31);
}
static u32 reverse(u32 a) {
  u32 result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    result |= (a >> i & 1) << (31 - i);
  }
  return result;
}
static u32 countOnes(u32 a, u32 b) { return u32(std::popcount(a)) + b; }
static u32 firstOne(u32 a) { return a ? u32(std::countr_zero(a)) : ~0u; }
static u32 leadingZeros(u32 a) { return a ? u32(std::countl_zero(a)) : ~0u; }
static u32 leadingSigns(i32 a) {
  u32 bits = a < 0 ? ~u32(a) : u32(a);
  return bits ? u32(std::countl_zero(bits)) : ~0u;
}

/// A byte of two words, or what a selector has beyond them.
static u32 selectedByte(u64 both, u32 selector) {
  if (selector >= 13) {
    return 0xff;
  }
  if (selector == 12) {
    return 0;
  }
  if (selector >= 8) { // the sign of a half
    unsigned half = selector - 8;
    return both >> (16 * half + 15) & 1 ? 0xff : 0;
  }
  return u32(both >> (8 * selector)) & 0xff;
}
static u32 permute(u32 a, u32 b, u32 selectors) {
  u64 both = u64(a) << 32 | b;
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= selectedByte(both, selectors >> (8 * i) & 0xff) << (8 * i);
  }
  return result;
}

/// Floats, since it takes their signs' modifiers; the bits stay as they are.
static float select(float a, float b, bool c) { return c ? b : a; }
static u16 selectHalf(u16 a, u16 b, bool c) { return c ? b : a; }

/// Element `i` of a word of elements of `Size` bits.
template <unsigned Size>
static i64 elementOf(u32 word, unsigned i, bool isSigned) {
  u32 atTop = word << (32 - Size * (i + 1));
  return isSigned ? i64(i32(atTop) >> (32 - Size)) : atTop >> (32 - Size);
}

template <unsigned Size>
static i64 sumOfProducts(u32 a, bool isSignedA, u32 b, bool isSignedB) {
  i64 sum = 0;
  for (unsigned i = 0; i < 32 / Size; ++i) {
    sum += elementOf<Size>(a, i, isSignedA) * elementOf<Size>(b, i, isSignedB);
  }
  return sum;
}

template <unsigned Size, bool Signed>
static u32 dotOf(u32 a, u32 b, u32 c) {
  return u32(sumOfProducts<Size>(a, Signed, b, Signed)) + c;
}

/// RDNA: the bits that negate floats say which operands have a sign.
template <unsigned Size>
static void dotOfEither(Wave &wave, const Instruction &instruction) {
  Lanes from[3];
  uint64_t valid = wave.exec();
  for (unsigned i = 0; i < 3; ++i) {
    wave.readSource(instruction, i, from[i], valid);
  }
  forMask(valid, [&](unsigned lane) {
    i64 sum = sumOfProducts<Size>(u32(from[0][lane]), instruction.negate & 1,
                                  u32(from[1][lane]), instruction.negate & 2) +
              i32(from[2][lane]);
    wave.writeLane(instruction.to, 0, lane,
                   u32(instruction.clamps ? nearest<i32>(sum) : sum));
  });
}

static std::vector<Semantics> arithmetic() {
  constexpr std::array<Type, 4> words = {Type::B32, Type::B32, Type::B32};
  return {
      lanesOf<move<u32>>("v_mov_b32 v_dual_mov_b32"),
      lanesOf<move<u64>>("v_mov_b64"),
      lanesOf<move<u16>>("v_mov_b16"),
      lanesOf<move<u32>>("v_accvgpr_mov_b32", 0, 5),
      lanesOf<move<u32>>("v_accvgpr_write_b32", 0, 3),
      lanesOf<move<u32>>("v_accvgpr_read_b32", 0, 4),
      lanesOf<add<u32>>("v_add_u32 v_add_nc_u32 v_dual_add_nc_u32 v_add_i32 "
                        "v_add_nc_i32"),
      lanesOf<subtract<u32>>("v_sub_u32 v_sub_nc_u32 v_sub_i32 v_sub_nc_i32"),
      lanesOf<subtractReversed<u32>>("v_subrev_u32 v_subrev_nc_u32"),
      lanesOf<add<u16>>("v_add_u16 v_add_nc_u16 v_add_nc_i16"),
      lanesOf<subtract<u16>>("v_sub_u16 v_sub_nc_u16 v_sub_nc_i16"),
      lanesOf<subtractReversed<u16>>("v_subrev_u16"),
      lanesOf<addClamped<u32>>("v_add_u32.clamp v_add_nc_u32.clamp"),
      lanesOf<addClamped<i32>>("v_add_i32.clamp v_add_nc_i32.clamp"),
      lanesOf<addClamped<u16>>("v_add_u16.clamp v_add_nc_u16.clamp"),
      lanesOf<addClamped<i16>>("v_add_i16.clamp v_add_nc_i16.clamp"),
      lanesOf<subtractClamped<u32>>("v_sub_u32.clamp v_sub_nc_u32.clamp"),
      lanesOf<subtractClamped<i32>>("v_sub_i32.clamp v_sub_nc_i32.clamp"),
      lanesOf<subtractClamped<u16>>("v_sub_u16.clamp v_sub_nc_u16.clamp"),
      lanesOf<subtractClamped<i16>>("v_sub_i16.clamp v_sub_nc_i16.clamp"),
      lanesOf<subtractReversedClamped<u32>>(
          "v_subrev_u32.clamp v_subrev_nc_u32.clamp"),
      lanesOf<subtractReversedClamped<u16>>("v_subrev_u16.clamp"),
      lanesOf<multiply<u32>>("v_mul_lo_u32"),
      lanesOf<multiply<u16>>("v_mul_lo_u16"),
      lanesOf<multiplyHigh>("v_mul_hi_u32"),
      lanesOf<multiplyHighSigned>("v_mul_hi_i32"),
      lanesOf<multiply24>("v_mul_u32_u24"),
      lanesOf<multiplyHigh24>("v_mul_hi_u32_u24"),
      lanesOf<multiplySigned24>("v_mul_i32_i24"),
      lanesOf<multiplyHighSigned24>("v_mul_hi_i32_i24"),
      lanesOf<multiplyAdd24>("v_mad_u32_u24"),
      lanesOf<multiplyAddSigned24>("v_mad_i32_i24"),
      lanesOf<multiplyAddLong>("v_mad_u64_u32 v_mad_co_u64_u32"),
      lanesOf<multiplyAddLongSigned>("v_mad_i64_i32 v_mad_co_i64_i32"),
      lanesOf<addCarry>("v_add_co_u32"),
      lanesOf<subtractBorrow>("v_sub_co_u32"),
      lanesOf<subtractReversedBorrow>("v_subrev_co_u32"),
      lanesOf<addWithCarry>("v_addc_co_u32 v_add_co_ci_u32"),
      lanesOf<subtractWithBorrow>("v_subb_co_u32 v_sub_co_ci_u32"),
      lanesOf<subtractReversedWithBorrow>(
          "v_subbrev_co_u32 v_subrev_co_ci_u32"),
      lanesOf<smaller<i32>>("v_min_i32"),
      lanesOf<smaller<u32>>("v_min_u32"),
      lanesOf<larger<i32>>("v_max_i32"),
      lanesOf<larger<u32>>("v_max_u32"),
      lanesOf<smaller<i16>>("v_min_i16"),
      lanesOf<smaller<u16>>("v_min_u16"),
      lanesOf<larger<i16>>("v_max_i16"),
      lanesOf<larger<u16>>("v_max_u16"),
      lanesOf<smallest<i32>>("v_min3_i32"),
      lanesOf<smallest<u32>>("v_min3_u32"),
      lanesOf<largest<i32>>("v_max3_i32"),
      lanesOf<largest<u32>>("v_max3_u32"),
      lanesOf<middle<i32>>("v_med3_i32"),
      lanesOf<middle<u32>>("v_med3_u32"),
      lanesOf<smallest<i16>>("v_min3_i16"),
      lanesOf<smallest<u16>>("v_min3_u16"),
      lanesOf<largest<i16>>("v_max3_i16"),
      lanesOf<largest<u16>>("v_max3_u16"),
      lanesOf<middle<i16>>("v_med3_i16"),
      lanesOf<middle<u16>>("v_med3_u16"),
      lanesOf<largestSmaller<i32>>("v_maxmin_i32"),
      lanesOf<largestSmaller<u32>>("v_maxmin_u32"),
      lanesOf<smallestLarger<i32>>("v_minmax_i32"),
      lanesOf<smallestLarger<u32>>("v_minmax_u32"),
      lanesOf<multipliedSum<u16>>(
          "v_mad_u16 v_mad_i16 v_mad_legacy_u16 v_mad_legacy_i16"),
      lanesOf<dotOf<16, true>>("v_dot2_i32_i16"),
      lanesOf<dotOf<16, true>>("v_dot2c_i32_i16", ReadsTo),
      lanesOf<dotOf<16, false>>("v_dot2_u32_u16"),
      lanesOf<dotOf<8, true>>("v_dot4_i32_i8"),
      lanesOf<dotOf<8, true>>("v_dot4c_i32_i8", ReadsTo),
      lanesOf<dotOf<8, false>>("v_dot4_u32_u8"),
      lanesOf<dotOf<4, true>>("v_dot8_i32_i4"),
      lanesOf<dotOf<4, true>>("v_dot8c_i32_i4", ReadsTo),
      lanesOf<dotOf<4, false>>("v_dot8_u32_u4"),
      custom("v_dot4_i32_iu8", dotOfEither<8>, Type::B32, words),
      custom("v_dot8_i32_iu4", dotOfEither<4>, Type::B32, words),
  };
}

static std::vector<Semantics> bits() {
  return {
      lanesOf<bitAnd<u32>>("v_and_b32 v_dual_and_b32"),
      lanesOf<bitOr<u32>>("v_or_b32"),
      lanesOf<bitXor<u32>>("v_xor_b32"),
      lanesOf<bitNot<u32>>("v_not_b32"),
      lanesOf<bitAnd<u16>>("v_and_b16"),
      lanesOf<bitOr<u16>>("v_or_b16"),
      lanesOf<bitXor<u16>>("v_xor_b16"),
      lanesOf<bitNot<u16>>("v_not_b16"),
      lanesOf<bitXnor>("v_xnor_b32"),
      lanesOf<bitOr3>("v_or3_b32"),
      lanesOf<bitXor3>("v_xor3_b32"),
      lanesOf<andOr>("v_and_or_b32"),
      lanesOf<addThree>("v_add3_u32"),
      lanesOf<xorAdd>("v_xad_u32"),
      lanesOf<shiftAdd>("v_lshl_add_u32"),
      lanesOf<shiftAddLong>("v_lshl_add_u64"),
      lanesOf<addShift>("v_add_lshl_u32"),
      lanesOf<shiftOr>("v_lshl_or_b32"),
      lanesOf<shiftLeft<u32, u32>>("v_lshlrev_b32 v_dual_lshlrev_b32"),
      lanesOf<shiftRight<u32, u32>>("v_lshrrev_b32"),
      lanesOf<shiftRight<i32, u32>>("v_ashrrev_i32"),
      lanesOf<shiftLeft<u64, u32>>("v_lshlrev_b64"),
      lanesOf<shiftRight<u64, u32>>("v_lshrrev_b64"),
      lanesOf<shiftRight<i64, u32>>("v_ashrrev_i64"),
      lanesOf<shiftLeft<u16, u16>>("v_lshlrev_b16"),
      lanesOf<shiftRight<u16, u16>>("v_lshrrev_b16"),
      lanesOf<shiftRight<i16, u16>>("v_ashrrev_i16"),
      lanesOf<alignBits>("v_alignbit_b32"),
      lanesOf<alignBytes>("v_alignbyte_b32"),
      lanesOf<bitField<u32>>("v_bfe_u32"),
      lanesOf<bitField<i32>>("v_bfe_i32"),
      lanesOf<bitInsert>("v_bfi_b32"),
      lanesOf<bitMask>("v_bfm_b32"),
      lanesOf<reverse>("v_bfrev_b32"),
      lanesOf<countOnes>("v_bcnt_u32_b32"),
      lanesOf<firstOne>("v_ffbl_b32 v_ctz_i32_b32"),
      lanesOf<leadingZeros>("v_ffbh_u32 v_clz_i32_u32"),
      lanesOf<leadingSigns>("v_ffbh_i32 v_cls_i32"),
      lanesOf<permute>("v_perm_b32"),
      lanesOf<select>("v_cndmask_b32 v_dual_cndmask_b32"),
      lanesOf<selectHalf>("v_cndmask_b16"),
  };
}

std::span<const Semantics> integerFamily() {
  static const std::vector<Semantics> rows = [] {
    std::vector<Semantics> all = arithmetic();
    for (const Semantics &row : bits()) {
      all.push_back(row);
    }
    return all;
  }();
  return rows;
}

} // namespace nereid::sim::amd
