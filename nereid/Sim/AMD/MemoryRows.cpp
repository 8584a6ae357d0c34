//===- MemoryRows.cpp - Rows that all memory families have ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/MemoryRows.h"

#include <deque>
#include <mutex>

namespace nereid::sim::amd {

std::string_view keep(std::string text) {
  static std::mutex mutex;
  static std::deque<std::string> all;
  std::lock_guard lock(mutex);
  return all.emplace_back(std::move(text));
}

namespace {
struct ElementRow {
  const char *cdna, *rdna;
  Type type;
  unsigned detail;
};
struct UpdateRow {
  const char *cdna, *rdna;
  Update update;
  Type type;
};
} // namespace

static constexpr ElementRow loads[] = {
    {"ubyte", "u8", Type::B32, ByteUnsigned},
    {"sbyte", "i8", Type::B32, ByteSigned},
    {"ushort", "u16", Type::B32, ShortUnsigned},
    {"sshort", "i16", Type::B32, ShortSigned},
    {"dword", "b32", Type::B32, Words},
    {"dwordx2", "b64", Type::B64, Words},
    {"dwordx3", "b96", Type::B96, Words},
    {"dwordx4", "b128", Type::B128, Words},
    {"ubyte_d16", "d16_u8", Type::B32, ByteUnsigned | Low},
    {"ubyte_d16_hi", "d16_hi_u8", Type::B32, ByteUnsigned | High},
    {"sbyte_d16", "d16_i8", Type::B32, ByteSigned | Low},
    {"sbyte_d16_hi", "d16_hi_i8", Type::B32, ByteSigned | High},
    {"short_d16", "d16_b16", Type::B32, ShortUnsigned | Low},
    {"short_d16_hi", "d16_hi_b16", Type::B32, ShortUnsigned | High},
};
static constexpr ElementRow stores[] = {
    {"byte", "b8", Type::B32, ByteUnsigned},
    {"short", "b16", Type::B32, ShortUnsigned},
    {"dword", "b32", Type::B32, Words},
    {"dwordx2", "b64", Type::B64, Words},
    {"dwordx3", "b96", Type::B96, Words},
    {"dwordx4", "b128", Type::B128, Words},
    {"byte_d16_hi", "d16_hi_b8", Type::B32, ByteUnsigned | High},
    {"short_d16_hi", "d16_hi_b16", Type::B32, ShortUnsigned | High},
};
static constexpr UpdateRow updates[] = {
    {"swap", "swap_b32", Update::Swap, Type::B32},
    {"cmpswap", "cmpswap_b32", Update::CompareSwap, Type::B32},
    {"add", "add_u32", Update::Add, Type::B32},
    {"sub", "sub_u32", Update::Subtract, Type::B32},
    {"smin", "min_i32", Update::SignedMin, Type::B32},
    {"umin", "min_u32", Update::UnsignedMin, Type::B32},
    {"smax", "max_i32", Update::SignedMax, Type::B32},
    {"umax", "max_u32", Update::UnsignedMax, Type::B32},
    {"and", "and_b32", Update::And, Type::B32},
    {"or", "or_b32", Update::Or, Type::B32},
    {"xor", "xor_b32", Update::Xor, Type::B32},
    {"inc", "inc_u32", Update::Increase, Type::B32},
    {"dec", "dec_u32", Update::Decrease, Type::B32},
    {"swap_x2", "swap_b64", Update::Swap, Type::B64},
    {"cmpswap_x2", "cmpswap_b64", Update::CompareSwap, Type::B64},
    {"add_x2", "add_u64", Update::Add, Type::B64},
    {"sub_x2", "sub_u64", Update::Subtract, Type::B64},
    {"smin_x2", "min_i64", Update::SignedMin, Type::B64},
    {"umin_x2", "min_u64", Update::UnsignedMin, Type::B64},
    {"smax_x2", "max_i64", Update::SignedMax, Type::B64},
    {"umax_x2", "max_u64", Update::UnsignedMax, Type::B64},
    {"and_x2", "and_b64", Update::And, Type::B64},
    {"or_x2", "or_b64", Update::Or, Type::B64},
    {"xor_x2", "xor_b64", Update::Xor, Type::B64},
    {"inc_x2", "inc_u64", Update::Increase, Type::B64},
    {"dec_x2", "dec_u64", Update::Decrease, Type::B64},
    {"add_f32", "add_f32", Update::AddFloat, Type::B32},
    {"fmin", "min_f32", Update::MinFloat, Type::B32},
    {"fmax", "max_f32", Update::MaxFloat, Type::B32},
    {"fmin_num", "min_num_f32", Update::MinFloat, Type::B32},
    {"fmax_num", "max_num_f32", Update::MaxFloat, Type::B32},
    {"add_f64", "add_f64", Update::AddFloat, Type::B64},
    {"min_f64", "min_f64", Update::MinFloat, Type::B64},
    {"max_f64", "max_f64", Update::MaxFloat, Type::B64},
    {"pk_add_f16", "pk_add_f16", Update::AddHalves, Type::B32},
    {"pk_add_bf16", "pk_add_bf16", Update::AddBfloats, Type::B32},
};

std::vector<Semantics> memoryRows(std::string_view prefix, Execute load,
                                  Execute store, Execute update) {
  std::vector<Semantics> rows;
  auto names = [&](const char *verb, const char *one, const char *other) {
    std::string front = std::string(prefix) + verb;
    return keep(front + one + " " + front + other);
  };
  for (const ElementRow &row : loads) {
    rows.push_back({names("_load_", row.cdna, row.rdna),
                    load,
                    nullptr,
                    row.type,
                    Type::None,
                    {},
                    0,
                    row.detail});
  }
  for (const ElementRow &row : stores) {
    rows.push_back({names("_store_", row.cdna, row.rdna),
                    store,
                    nullptr,
                    Type::None,
                    Type::None,
                    {row.type},
                    Store,
                    row.detail});
  }
  for (const UpdateRow &row : updates) {
    if (!update) {
      break;
    }
    bool isWide = row.type == Type::B64;
    bool compares = row.update == Update::CompareSwap;
    Type data = !compares ? row.type : isWide ? Type::B128 : Type::B64;
    rows.push_back({names("_atomic_", row.cdna, row.rdna),
                    update,
                    nullptr,
                    row.type,
                    Type::None,
                    {data},
                    Atomic,
                    unsigned(row.update) | (isWide ? 8u : 4u) << 8});
  }
  return rows;
}

} // namespace nereid::sim::amd
