//===- ScalarOps.cpp - Integers and masks of a wave -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace nereid::sim::amd {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

/// A result whose SCC says that it is not 0.
template <typename T>
static T nonZero(T value, bool &scc) {
  scc = value != 0;
  return value;
}

static u32 addCarry(u32 a, u32 b, bool &scc) {
  u64 sum = u64(a) + b;
  scc = sum >> 32;
  return u32(sum);
}
static u32 subtractBorrow(u32 a, u32 b, bool &scc) {
  scc = a < b;
  return a - b;
}
static u32 addWithCarry(u32 a, u32 b, bool &scc) {
  u64 sum = u64(a) + b + scc;
  scc = sum >> 32;
  return u32(sum);
}
static u32 subtractWithBorrow(u32 a, u32 b, bool &scc) {
  u64 taken = u64(b) + scc;
  u32 result = u32(a - taken);
  scc = taken > a;
  return result;
}
static u32 addSigned(i32 a, i32 b, bool &scc) {
  i32 result;
  scc = __builtin_add_overflow(a, b, &result);
  return u32(result);
}
static u32 subtractSigned(i32 a, i32 b, bool &scc) {
  i32 result;
  scc = __builtin_sub_overflow(a, b, &result);
  return u32(result);
}
template <typename T>
static T smaller(T a, T b, bool &scc) {
  scc = a < b;
  return scc ? a : b;
}
template <typename T>
static T larger(T a, T b, bool &scc) {
  scc = a > b;
  return scc ? a : b;
}
template <typename T>
static T select(T a, T b, bool &scc) {
  return scc ? a : b;
}
template <typename T>
static T bitAnd(T a, T b, bool &scc) {
  return nonZero<T>(a & b, scc);
}
template <typename T>
static T bitOr(T a, T b, bool &scc) {
  return nonZero<T>(a | b, scc);
}
template <typename T>
static T bitXor(T a, T b, bool &scc) {
  return nonZero<T>(a ^ b, scc);
}
template <typename T>
static T bitAndNot(T a, T b, bool &scc) {
  return nonZero<T>(a & ~b, scc);
}
template <typename T>
static T bitOrNot(T a, T b, bool &scc) {
  return nonZero<T>(a | ~b, scc);
}
template <typename T>
static T bitNand(T a, T b, bool &scc) {
  return nonZero<T>(~(a & b), scc);
}
template <typename T>
static T bitNor(T a, T b, bool &scc) {
  return nonZero<T>(~(a | b), scc);
}
template <typename T>
static T bitXnor(T a, T b, bool &scc) {
  return nonZero<T>(~(a ^ b), scc);
}
template <typename T>
static T shiftLeft(T a, u32 by, bool &scc) {
  return nonZero<T>(a << (by & (sizeof(T) * 8 - 1)), scc);
}
template <typename T>
static T shiftRight(T a, u32 by, bool &scc) {
  return nonZero<T>(a >> (by & (sizeof(T) * 8 - 1)), scc);
}
template <typename T>
static T bitMask(u32 count, u32 at) {
  constexpr unsigned bits = sizeof(T) * 8;
  return T(((T(1) << (count & (bits - 1))) - 1) << (at & (bits - 1)));
}
/// A field: its place in the lower bits of b, its width from bit 16 on.
template <typename T>
static T bitField(T a, u32 b, bool &scc) {
  constexpr unsigned bits = sizeof(T) * 8;
  unsigned at = b & (bits - 1), width = b >> 16 & 0x7f;
  if (width == 0) {
    return nonZero<T>(0, scc);
  }
  T value = a >> at;
  if (width < bits) {
    auto up = std::make_unsigned_t<T>(value) << (bits - width);
    value = T(up) >> (bits - width);
  }
  return nonZero<T>(value, scc);
}
static u32 multiply(u32 a, u32 b) { return a * b; }
static u64 multiplyLong(u64 a, u64 b) { return a * b; }
static u64 addLong(u64 a, u64 b) { return a + b; }
static u64 subtractLong(u64 a, u64 b) { return a - b; }
static u32 multiplyHigh(u32 a, u32 b) { return u32(u64(a) * b >> 32); }
static i32 multiplyHighSigned(i32 a, i32 b) { return i32(i64(a) * b >> 32); }
template <unsigned By>
static u32 shiftAdd(u32 a, u32 b, bool &scc) {
  u64 sum = (u64(a) << By) + b;
  scc = sum >> 32;
  return u32(sum);
}
static u32 absoluteDifference(i32 a, i32 b, bool &scc) {
  i64 difference = std::abs(i64(a) - b);
  return nonZero(u32(difference), scc);
}
template <unsigned High0, unsigned High1>
static u32 packHalves(u32 a, u32 b) {
  return (a >> (16 * High0) & 0xffff) | (b >> (16 * High1) & 0xffff) << 16;
}

//===----------------------------------------------------------------------===//
// One source
//===----------------------------------------------------------------------===//

template <typename T>
static T move(T a) {
  return a;
}
template <typename T>
static T bitNot(T a, bool &scc) {
  return nonZero<T>(~a, scc);
}
template <typename T>
static T reverse(T a) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) {
    result |= (a >> i & 1) << (sizeof(T) * 8 - 1 - i);
  }
  return result;
}
template <typename T>
static u32 countOnes(T a, bool &scc) {
  return nonZero(u32(std::popcount(a)), scc);
}
template <typename T>
static u32 countZeros(T a, bool &scc) {
  return nonZero(u32(sizeof(T) * 8 - std::popcount(a)), scc);
}
template <typename T>
static u32 firstOne(T a) {
  return a ? u32(std::countr_zero(a)) : ~0u;
}
template <typename T>
static u32 firstZero(T a) {
  return ~a ? u32(std::countr_one(a)) : ~0u;
}
template <typename T>
static u32 leadingZeros(T a) {
  return a ? u32(std::countl_zero(a)) : ~0u;
}
/// Bits that equal the sign, counted from it; all equal: -1.
template <typename T>
static u32 leadingSigns(T a) {
  using U = std::make_unsigned_t<T>;
  U bits = a < 0 ? ~U(a) : U(a);
  return bits ? u32(std::countl_zero(bits)) : ~0u;
}
static i32 extendByte(u32 a) { return int8_t(a); }
static i32 extendHalf(u32 a) { return int16_t(a); }
static u32 absolute(i32 a, bool &scc) {
  return nonZero(a < 0 ? 0u - u32(a) : u32(a), scc);
}
/// Whole quads where a lane of it is active.
template <typename T>
static T wholeQuads(T a, bool &scc) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; i += 4) {
    result |= (a >> i & 0xf) ? T(0xf) << i : 0;
  }
  return nonZero(result, scc);
}

static void conditionalMove(Wave &wave, const Instruction &instruction) {
  if (wave.scc) {
    wave.writeScalar(instruction.to, wave.readScalar(instruction.from[0]));
  }
}

template <typename T>
static void setBit(Wave &wave, const Instruction &instruction) {
  bool isSet = instruction.semantics->detail;
  T bit = T(1) << (wave.readScalar(instruction.from[0]) & (sizeof(T) * 8 - 1));
  T old = T(wave.readScalar(instruction.to));
  wave.writeScalar(instruction.to, isSet ? old | bit : old & ~bit);
}

/// What an S_*_SAVEEXEC makes of the source and the exec mask.
enum MaskFunction : unsigned {
  MaskAnd,
  MaskOr,
  MaskXor,
  MaskAndNot, ///< source & ~exec
  MaskOrNot,
  MaskNand,
  MaskNor,
  MaskXnor,
  MaskNotAnd, ///< ~source & exec
  MaskNotOr,
};

static u64 maskFunction(unsigned function, u64 source, u64 exec) {
  switch (function) {
  case MaskAnd:
    return source & exec;
  case MaskOr:
    return source | exec;
  case MaskXor:
    return source ^ exec;
  case MaskAndNot:
    return source & ~exec;
  case MaskOrNot:
    return source | ~exec;
  case MaskNand:
    return ~(source & exec);
  case MaskNor:
    return ~(source | exec);
  case MaskXnor:
    return ~(source ^ exec);
  case MaskNotAnd:
    return ~source & exec;
  default:
    return ~source | exec;
  }
}

template <typename T, bool Saves>
static void changeExec(Wave &wave, const Instruction &instruction) {
  T source = T(wave.readScalar(instruction.from[0]));
  auto exec =
      T(wave.scalars[execRegister] | u64(wave.scalars[execRegister + 1]) << 32);
  auto result = T(maskFunction(instruction.semantics->detail, source, exec));
  if (sizeof(T) == 8) {
    wave.scalars[execRegister + 1] = u32(u64(result) >> 32);
  }
  wave.scalars[execRegister] = u32(result);
  wave.writeScalar(instruction.to, Saves ? exec : result);
  wave.scc = result != 0;
}

//===----------------------------------------------------------------------===//
// A constant of 16 bits
//===----------------------------------------------------------------------===//

static u32 extended(const Instruction &instruction) {
  return u32(i32(int16_t(instruction.immediate)));
}
static void moveConstant(Wave &wave, const Instruction &instruction) {
  wave.writeScalar(instruction.to, extended(instruction));
}
static void moveConstantIf(Wave &wave, const Instruction &instruction) {
  if (wave.scc) {
    moveConstant(wave, instruction);
  }
}
static void addConstant(Wave &wave, const Instruction &instruction) {
  auto value = u32(wave.readScalar(instruction.to));
  wave.writeScalar(instruction.to,
                   addSigned(i32(value), i32(extended(instruction)), wave.scc));
}
static void multiplyConstant(Wave &wave, const Instruction &instruction) {
  auto value = u32(wave.readScalar(instruction.to));
  wave.writeScalar(instruction.to, value * extended(instruction));
}

enum Comparison : unsigned {
  Equal,
  NotEqual,
  Greater,
  NotLess,
  Less,
  NotGreater
};

template <typename T>
static bool compare(unsigned comparison, T a, T b) {
  switch (comparison) {
  case Equal:
    return a == b;
  case NotEqual:
    return a != b;
  case Greater:
    return a > b;
  case NotLess:
    return a >= b;
  case Less:
    return a < b;
  default:
    return a <= b;
  }
}

template <typename T>
static void compareConstant(Wave &wave, const Instruction &instruction) {
  T other =
      std::is_signed_v<T> ? T(extended(instruction)) : T(instruction.immediate);
  wave.scc = compare(instruction.semantics->detail - 10,
                     T(wave.readScalar(instruction.to)), other);
}

template <typename T, unsigned C>
static bool comparison(T a, T b) {
  return compare<T>(C, a, b);
}
template <typename T, bool Is>
static bool testBit(T a, u32 b) {
  return bool(a >> (b & (sizeof(T) * 8 - 1)) & 1) == Is;
}

static std::vector<Semantics> twoSources() {
  return {
      scalarOf<addCarry>("s_add_u32 s_add_co_u32"),
      scalarOf<subtractBorrow>("s_sub_u32 s_sub_co_u32"),
      scalarOf<addSigned>("s_add_i32 s_add_co_i32"),
      scalarOf<subtractSigned>("s_sub_i32 s_sub_co_i32"),
      scalarOf<addWithCarry>("s_addc_u32 s_add_co_ci_u32"),
      scalarOf<subtractWithBorrow>("s_subb_u32 s_sub_co_ci_u32"),
      scalarOf<smaller<i32>>("s_min_i32"),
      scalarOf<smaller<u32>>("s_min_u32"),
      scalarOf<larger<i32>>("s_max_i32"),
      scalarOf<larger<u32>>("s_max_u32"),
      scalarOf<select<u32>>("s_cselect_b32"),
      scalarOf<select<u64>>("s_cselect_b64"),
      scalarOf<bitAnd<u32>>("s_and_b32"),
      scalarOf<bitAnd<u64>>("s_and_b64"),
      scalarOf<bitOr<u32>>("s_or_b32"),
      scalarOf<bitOr<u64>>("s_or_b64"),
      scalarOf<bitXor<u32>>("s_xor_b32"),
      scalarOf<bitXor<u64>>("s_xor_b64"),
      scalarOf<bitAndNot<u32>>("s_andn2_b32 s_and_not1_b32"),
      scalarOf<bitAndNot<u64>>("s_andn2_b64 s_and_not1_b64"),
      scalarOf<bitOrNot<u32>>("s_orn2_b32 s_or_not1_b32"),
      scalarOf<bitOrNot<u64>>("s_orn2_b64 s_or_not1_b64"),
      scalarOf<bitNand<u32>>("s_nand_b32"),
      scalarOf<bitNand<u64>>("s_nand_b64"),
      scalarOf<bitNor<u32>>("s_nor_b32"),
      scalarOf<bitNor<u64>>("s_nor_b64"),
      scalarOf<bitXnor<u32>>("s_xnor_b32"),
      scalarOf<bitXnor<u64>>("s_xnor_b64"),
      scalarOf<shiftLeft<u32>>("s_lshl_b32"),
      scalarOf<shiftLeft<u64>>("s_lshl_b64"),
      scalarOf<shiftRight<u32>>("s_lshr_b32"),
      scalarOf<shiftRight<u64>>("s_lshr_b64"),
      scalarOf<shiftRight<i32>>("s_ashr_i32"),
      scalarOf<shiftRight<i64>>("s_ashr_i64"),
      scalarOf<bitMask<u32>>("s_bfm_b32"),
      scalarOf<bitMask<u64>>("s_bfm_b64"),
      scalarOf<bitField<u32>>("s_bfe_u32"),
      scalarOf<bitField<i32>>("s_bfe_i32"),
      scalarOf<bitField<u64>>("s_bfe_u64"),
      scalarOf<bitField<i64>>("s_bfe_i64"),
      scalarOf<multiply>("s_mul_i32"),
      scalarOf<multiplyHigh>("s_mul_hi_u32"),
      scalarOf<multiplyHighSigned>("s_mul_hi_i32"),
      scalarOf<multiplyLong>("s_mul_u64"),
      scalarOf<addLong>("s_add_nc_u64"),
      scalarOf<subtractLong>("s_sub_nc_u64"),
      scalarOf<shiftAdd<1>>("s_lshl1_add_u32"),
      scalarOf<shiftAdd<2>>("s_lshl2_add_u32"),
      scalarOf<shiftAdd<3>>("s_lshl3_add_u32"),
      scalarOf<shiftAdd<4>>("s_lshl4_add_u32"),
      scalarOf<absoluteDifference>("s_absdiff_i32"),
      scalarOf<packHalves<0, 0>>("s_pack_ll_b32_b16"),
      scalarOf<packHalves<0, 1>>("s_pack_lh_b32_b16"),
      scalarOf<packHalves<1, 0>>("s_pack_hl_b32_b16"),
      scalarOf<packHalves<1, 1>>("s_pack_hh_b32_b16"),
  };
}

static std::vector<Semantics> oneSource() {
  constexpr std::array<Type, 4> word = {Type::B32}, both = {Type::B64};
  std::vector<Semantics> rows = {
      scalarOf<move<u32>>("s_mov_b32"),
      scalarOf<move<u64>>("s_mov_b64"),
      custom("s_cmov_b32", conditionalMove, Type::B32, word),
      custom("s_cmov_b64", conditionalMove, Type::B64, both),
      scalarOf<bitNot<u32>>("s_not_b32"),
      scalarOf<bitNot<u64>>("s_not_b64"),
      scalarOf<wholeQuads<u32>>("s_wqm_b32"),
      scalarOf<wholeQuads<u64>>("s_wqm_b64"),
      scalarOf<reverse<u32>>("s_brev_b32"),
      scalarOf<reverse<u64>>("s_brev_b64"),
      scalarOf<countZeros<u32>>("s_bcnt0_i32_b32"),
      scalarOf<countZeros<u64>>("s_bcnt0_i32_b64"),
      scalarOf<countOnes<u32>>("s_bcnt1_i32_b32"),
      scalarOf<countOnes<u64>>("s_bcnt1_i32_b64"),
      scalarOf<firstZero<u32>>("s_ff0_i32_b32"),
      scalarOf<firstZero<u64>>("s_ff0_i32_b64"),
      scalarOf<firstOne<u32>>("s_ff1_i32_b32 s_ctz_i32_b32"),
      scalarOf<firstOne<u64>>("s_ff1_i32_b64 s_ctz_i32_b64"),
      scalarOf<leadingZeros<u32>>("s_flbit_i32_b32 s_clz_i32_u32"),
      scalarOf<leadingZeros<u64>>("s_flbit_i32_b64 s_clz_i32_u64"),
      scalarOf<leadingSigns<i32>>("s_flbit_i32 s_cls_i32"),
      scalarOf<leadingSigns<i64>>("s_flbit_i32_i64 s_cls_i32_i64"),
      scalarOf<extendByte>("s_sext_i32_i8"),
      scalarOf<extendHalf>("s_sext_i32_i16"),
      scalarOf<absolute>("s_abs_i32"),
      custom("s_bitset0_b32", setBit<u32>, Type::B32, word, 0, 0),
      custom("s_bitset1_b32", setBit<u32>, Type::B32, word, 0, 1),
      custom("s_bitset0_b64", setBit<u64>, Type::B64, word, 0, 0),
      custom("s_bitset1_b64", setBit<u64>, Type::B64, word, 0, 1),
  };
  struct Row {
    const char *words, *pairs;
    unsigned function;
  };
  constexpr Row saves[] = {
      {"s_and_saveexec_b32", "s_and_saveexec_b64", MaskAnd},
      {"s_or_saveexec_b32", "s_or_saveexec_b64", MaskOr},
      {"s_xor_saveexec_b32", "s_xor_saveexec_b64", MaskXor},
      {"s_andn2_saveexec_b32 s_and_not1_saveexec_b32",
       "s_andn2_saveexec_b64 s_and_not1_saveexec_b64", MaskAndNot},
      {"s_orn2_saveexec_b32 s_or_not1_saveexec_b32",
       "s_orn2_saveexec_b64 s_or_not1_saveexec_b64", MaskOrNot},
      {"s_nand_saveexec_b32", "s_nand_saveexec_b64", MaskNand},
      {"s_nor_saveexec_b32", "s_nor_saveexec_b64", MaskNor},
      {"s_xnor_saveexec_b32", "s_xnor_saveexec_b64", MaskXnor},
      {"s_andn1_saveexec_b32 s_and_not0_saveexec_b32",
       "s_andn1_saveexec_b64 s_and_not0_saveexec_b64", MaskNotAnd},
      {"s_orn1_saveexec_b32 s_or_not0_saveexec_b32",
       "s_orn1_saveexec_b64 s_or_not0_saveexec_b64", MaskNotOr}};
  for (const Row &row : saves) {
    rows.push_back(custom(row.words, changeExec<u32, true>, Type::B32, word,
                          WritesExec, row.function));
    rows.push_back(custom(row.pairs, changeExec<u64, true>, Type::B64, both,
                          WritesExec, row.function));
  }
  constexpr Row writes[] = {
      {"s_andn2_wrexec_b32 s_and_not1_wrexec_b32",
       "s_andn2_wrexec_b64 s_and_not1_wrexec_b64", MaskAndNot},
      {"s_andn1_wrexec_b32 s_and_not0_wrexec_b32",
       "s_andn1_wrexec_b64 s_and_not0_wrexec_b64", MaskNotAnd}};
  for (const Row &row : writes) {
    rows.push_back(custom(row.words, changeExec<u32, false>, Type::B32, word,
                          WritesExec, row.function));
    rows.push_back(custom(row.pairs, changeExec<u64, false>, Type::B64, both,
                          WritesExec, row.function));
  }
  return rows;
}

static std::vector<Semantics> comparisons() {
  constexpr unsigned c = 10; // `detail` 1 and 2 are the decoder's
  return {
      scalarOf<comparison<i32, Equal>>("s_cmp_eq_i32"),
      scalarOf<comparison<i32, NotEqual>>("s_cmp_lg_i32"),
      scalarOf<comparison<i32, Greater>>("s_cmp_gt_i32"),
      scalarOf<comparison<i32, NotLess>>("s_cmp_ge_i32"),
      scalarOf<comparison<i32, Less>>("s_cmp_lt_i32"),
      scalarOf<comparison<i32, NotGreater>>("s_cmp_le_i32"),
      scalarOf<comparison<u32, Equal>>("s_cmp_eq_u32"),
      scalarOf<comparison<u32, NotEqual>>("s_cmp_lg_u32"),
      scalarOf<comparison<u32, Greater>>("s_cmp_gt_u32"),
      scalarOf<comparison<u32, NotLess>>("s_cmp_ge_u32"),
      scalarOf<comparison<u32, Less>>("s_cmp_lt_u32"),
      scalarOf<comparison<u32, NotGreater>>("s_cmp_le_u32"),
      scalarOf<comparison<u64, Equal>>("s_cmp_eq_u64"),
      scalarOf<comparison<u64, NotEqual>>("s_cmp_lg_u64"),
      scalarOf<testBit<u32, false>>("s_bitcmp0_b32"),
      scalarOf<testBit<u32, true>>("s_bitcmp1_b32"),
      scalarOf<testBit<u64, false>>("s_bitcmp0_b64"),
      scalarOf<testBit<u64, true>>("s_bitcmp1_b64"),
      custom("s_movk_i32", moveConstant, Type::B32),
      custom("s_cmovk_i32", moveConstantIf, Type::B32),
      custom("s_addk_i32 s_addk_co_i32", addConstant, Type::B32),
      custom("s_mulk_i32", multiplyConstant, Type::B32),
      custom("s_cmpk_eq_i32", compareConstant<i32>, Type::B32, {}, 0,
             c + Equal),
      custom("s_cmpk_lg_i32", compareConstant<i32>, Type::B32, {}, 0,
             c + NotEqual),
      custom("s_cmpk_gt_i32", compareConstant<i32>, Type::B32, {}, 0,
             c + Greater),
      custom("s_cmpk_ge_i32", compareConstant<i32>, Type::B32, {}, 0,
             c + NotLess),
      custom("s_cmpk_lt_i32", compareConstant<i32>, Type::B32, {}, 0, c + Less),
      custom("s_cmpk_le_i32", compareConstant<i32>, Type::B32, {}, 0,
             c + NotGreater),
      custom("s_cmpk_eq_u32", compareConstant<u32>, Type::B32, {}, 0,
             c + Equal),
      custom("s_cmpk_lg_u32", compareConstant<u32>, Type::B32, {}, 0,
             c + NotEqual),
      custom("s_cmpk_gt_u32", compareConstant<u32>, Type::B32, {}, 0,
             c + Greater),
      custom("s_cmpk_ge_u32", compareConstant<u32>, Type::B32, {}, 0,
             c + NotLess),
      custom("s_cmpk_lt_u32", compareConstant<u32>, Type::B32, {}, 0, c + Less),
      custom("s_cmpk_le_u32", compareConstant<u32>, Type::B32, {}, 0,
             c + NotGreater),
  };
}

std::span<const Semantics> scalarFamily() {
  static const std::vector<Semantics> rows = [] {
    std::vector<Semantics> all = twoSources();
    for (auto part : {oneSource, comparisons}) {
      for (const Semantics &row : part()) {
        all.push_back(row);
      }
    }
    return all;
  }();
  return rows;
}

} // namespace nereid::sim::amd
