//===- SharedMemoryOps.cpp - LDS, and moves between lanes through it ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/MemoryRows.h"
#include "nereid/Sim/AMD/Workgroup.h"

namespace nereid::sim::amd {

/// A sum of 32 bits, which wraps: LLVM folds an offset into an address whose
/// register is negative (GCNSubtarget::hasUsableDSOffset, all chips after SI).
static uint32_t addressOf(const Wave &wave, const Instruction &instruction,
                          unsigned lane) {
  return uint32_t(wave.lane(instruction.vectorAddress, 0, lane)) +
         uint32_t(instruction.offset);
}

static void load(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.to.words;
  uint32_t bytes = elementBytes(detail, words);
  wave.issue(Counter::Shared, true, &instruction.to);
  std::array<const unsigned char *, 64> from;
  forMask(wave.exec(), [&](unsigned lane) {
    from[lane] = wave.group.shared(
        wave, lane, addressOf(wave, instruction, lane), bytes, Access::Read);
  });
  forMask(wave.exec(), [&](unsigned lane) {
    loadElement(wave, instruction.to, detail, lane, from[lane], 0, words);
  });
}

static void store(Wave &wave, const Instruction &instruction) {
  unsigned detail = instruction.semantics->detail;
  unsigned words = instruction.data[0].words;
  uint32_t bytes = elementBytes(detail, words);
  wave.issue(Counter::Shared, true);
  forMask(wave.exec(), [&](unsigned lane) {
    unsigned char *to = wave.group.shared(
        wave, lane, addressOf(wave, instruction, lane), bytes, Access::Write);
    storeElement(wave, instruction.data[0], detail, lane, to, words);
  });
}

/// Two elements at two offsets, which count elements, or 64 of them.
static uint32_t pairAddress(const Wave &wave, const Instruction &instruction,
                            unsigned lane, unsigned which, uint32_t bytes) {
  uint32_t unit = instruction.semantics->flags & Wide64 ? 64 * bytes : bytes;
  return uint32_t(wave.lane(instruction.vectorAddress, 0, lane)) +
         instruction.offsets[which] * unit;
}

static void loadTwo(Wave &wave, const Instruction &instruction) {
  unsigned words = instruction.to.words / 2;
  uint32_t bytes = words * 4;
  wave.issue(Counter::Shared, true, &instruction.to);
  std::array<const unsigned char *, 64> from[2];
  forMask(wave.exec(), [&](unsigned lane) {
    for (unsigned i = 0; i < 2; ++i) {
      from[i][lane] = wave.group.shared(
          wave, lane, pairAddress(wave, instruction, lane, i, bytes), bytes,
          Access::Read);
    }
  });
  forMask(wave.exec(), [&](unsigned lane) {
    for (unsigned i = 0; i < 2; ++i) {
      loadElement(wave, instruction.to, Words, lane, from[i][lane], i * words,
                  words);
    }
  });
}

static void storeTwo(Wave &wave, const Instruction &instruction) {
  unsigned words = instruction.data[0].words;
  uint32_t bytes = words * 4;
  wave.issue(Counter::Shared, true);
  forMask(wave.exec(), [&](unsigned lane) {
    for (unsigned i = 0; i < 2; ++i) {
      storeElement(
          wave, instruction.data[i], Words, lane,
          wave.group.shared(wave, lane,
                            pairAddress(wave, instruction, lane, i, bytes),
                            bytes, Access::Write),
          words);
    }
  });
}

static void update(Wave &wave, const Instruction &instruction) {
  uint32_t bytes = updateBytes(instruction);
  bool compares = updateOf(instruction) == Update::CompareSwap;
  // CDNA has what is compared first, RDNA what is written.
  unsigned value =
      compares && wave.program.generation == Generation::Cdna ? 1 : 0;
  wave.issue(Counter::Shared, true, &instruction.to);
  forMask(wave.exec(), [&](unsigned lane) {
    unsigned char *at = wave.group.shared(
        wave, lane, addressOf(wave, instruction, lane), bytes, Access::Atomic);
    uint64_t old = updateMemory(
        updateOf(instruction), at, bytes,
        laneNumber(wave, instruction.data[value], lane, bytes),
        compares ? laneNumber(wave, instruction.data[1 - value], lane, bytes)
                 : 0);
    if (instruction.to.kind != Operand::Kind::None) {
      wave.writeLane(instruction.to, 0, lane, uint32_t(old));
      if (bytes == 8) {
        wave.writeLane(instruction.to, 1, lane, uint32_t(old >> 32));
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Moves between lanes
//===----------------------------------------------------------------------===//

/// Values of active lanes; an inactive one gives 0.
static Lanes activeValues(const Wave &wave, const Operand &of) {
  Lanes values = {};
  forMask(wave.exec(),
          [&](unsigned lane) { values[lane] = wave.lane(of, 0, lane); });
  return values;
}

static void pull(Wave &wave, const Instruction &instruction) {
  wave.issue(Counter::Shared, true, &instruction.to);
  Lanes values = activeValues(wave, instruction.data[0]), result;
  forMask(wave.exec(), [&](unsigned lane) {
    result[lane] = values[addressOf(wave, instruction, lane) / 4 % wave.lanes];
  });
  forMask(wave.exec(), [&](unsigned lane) {
    wave.writeLane(instruction.to, 0, lane, uint32_t(result[lane]));
  });
}

static void push(Wave &wave, const Instruction &instruction) {
  wave.issue(Counter::Shared, true, &instruction.to);
  Lanes values = activeValues(wave, instruction.data[0]), result = {};
  forMask(wave.exec(), [&](unsigned lane) {
    result[addressOf(wave, instruction, lane) / 4 % wave.lanes] = values[lane];
  });
  forMask(wave.exec(), [&](unsigned lane) {
    wave.writeLane(instruction.to, 0, lane, uint32_t(result[lane]));
  });
}

static void swizzle(Wave &wave, const Instruction &instruction) {
  wave.issue(Counter::Shared, true, &instruction.to);
  auto of = uint32_t(instruction.offset);
  constexpr uint32_t quads = 0x8000, rotates = 0xc000;
  if (of >= rotates) {
    wave.fault(Fault::Kind::Illegal, "rotates lanes, which is not simulated");
  }
  Operand from = instruction.vectorAddress;
  Lanes values = activeValues(wave, from), result;
  forMask(wave.exec(), [&](unsigned lane) {
    unsigned source = lane & 31;
    source = of & quads ? (source & ~3u) | (of >> (2 * (lane & 3)) & 3)
                        : ((source & of) | (of >> 5 & 31)) ^ (of >> 10 & 31);
    result[lane] = values[(lane & 32) | (source & 31)];
  });
  forMask(wave.exec(), [&](unsigned lane) {
    wave.writeLane(instruction.to, 0, lane, uint32_t(result[lane]));
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
struct UpdateRow {
  const char *name, *returning;
  Update update;
  Type type;
};
} // namespace

static constexpr UpdateRow updates[] = {
    {"ds_add_u32", "ds_add_rtn_u32", Update::Add, Type::B32},
    {"ds_sub_u32", "ds_sub_rtn_u32", Update::Subtract, Type::B32},
    {"ds_rsub_u32", "ds_rsub_rtn_u32", Update::ReverseSubtract, Type::B32},
    {"ds_inc_u32", "ds_inc_rtn_u32", Update::Increase, Type::B32},
    {"ds_dec_u32", "ds_dec_rtn_u32", Update::Decrease, Type::B32},
    {"ds_min_i32", "ds_min_rtn_i32", Update::SignedMin, Type::B32},
    {"ds_max_i32", "ds_max_rtn_i32", Update::SignedMax, Type::B32},
    {"ds_min_u32", "ds_min_rtn_u32", Update::UnsignedMin, Type::B32},
    {"ds_max_u32", "ds_max_rtn_u32", Update::UnsignedMax, Type::B32},
    {"ds_and_b32", "ds_and_rtn_b32", Update::And, Type::B32},
    {"ds_or_b32", "ds_or_rtn_b32", Update::Or, Type::B32},
    {"ds_xor_b32", "ds_xor_rtn_b32", Update::Xor, Type::B32},
    {"ds_add_f32", "ds_add_rtn_f32", Update::AddFloat, Type::B32},
    {"ds_min_f32 ds_min_num_f32", "ds_min_rtn_f32 ds_min_num_rtn_f32",
     Update::MinFloat, Type::B32},
    {"ds_max_f32 ds_max_num_f32", "ds_max_rtn_f32 ds_max_num_rtn_f32",
     Update::MaxFloat, Type::B32},
    {"", "ds_wrxchg_rtn_b32 ds_storexchg_rtn_b32", Update::Swap, Type::B32},
    {"ds_cmpst_b32 ds_cmpstore_b32", "ds_cmpst_rtn_b32 ds_cmpstore_rtn_b32",
     Update::CompareSwap, Type::B32},
    {"ds_add_u64", "ds_add_rtn_u64", Update::Add, Type::B64},
    {"ds_sub_u64", "ds_sub_rtn_u64", Update::Subtract, Type::B64},
    {"ds_inc_u64", "ds_inc_rtn_u64", Update::Increase, Type::B64},
    {"ds_dec_u64", "ds_dec_rtn_u64", Update::Decrease, Type::B64},
    {"ds_min_i64", "ds_min_rtn_i64", Update::SignedMin, Type::B64},
    {"ds_max_i64", "ds_max_rtn_i64", Update::SignedMax, Type::B64},
    {"ds_min_u64", "ds_min_rtn_u64", Update::UnsignedMin, Type::B64},
    {"ds_max_u64", "ds_max_rtn_u64", Update::UnsignedMax, Type::B64},
    {"ds_and_b64", "ds_and_rtn_b64", Update::And, Type::B64},
    {"ds_or_b64", "ds_or_rtn_b64", Update::Or, Type::B64},
    {"ds_xor_b64", "ds_xor_rtn_b64", Update::Xor, Type::B64},
    {"ds_add_f64", "ds_add_rtn_f64", Update::AddFloat, Type::B64},
    {"ds_min_f64 ds_min_num_f64", "ds_min_rtn_f64 ds_min_num_rtn_f64",
     Update::MinFloat, Type::B64},
    {"ds_max_f64 ds_max_num_f64", "ds_max_rtn_f64 ds_max_num_rtn_f64",
     Update::MaxFloat, Type::B64},
    {"", "ds_wrxchg_rtn_b64 ds_storexchg_rtn_b64", Update::Swap, Type::B64},
    {"ds_cmpst_b64 ds_cmpstore_b64", "ds_cmpst_rtn_b64 ds_cmpstore_rtn_b64",
     Update::CompareSwap, Type::B64},
    {"ds_pk_add_f16", "ds_pk_add_rtn_f16", Update::AddHalves, Type::B32},
    {"ds_pk_add_bf16", "ds_pk_add_rtn_bf16", Update::AddBfloats, Type::B32},
};

static std::vector<Semantics> accesses() {
  constexpr Type address = Type::B32;
  auto read = [](std::string_view names, Type type, unsigned detail) {
    return custom(names, load, type, {address}, 0, detail);
  };
  auto write = [](std::string_view names, Type type, unsigned detail) {
    return custom(names, store, Type::None, {address, type}, Store, detail);
  };
  return {
      read("ds_read_u8 ds_load_u8", Type::B32, ByteUnsigned),
      read("ds_read_i8 ds_load_i8", Type::B32, ByteSigned),
      read("ds_read_u16 ds_load_u16", Type::B32, ShortUnsigned),
      read("ds_read_i16 ds_load_i16", Type::B32, ShortSigned),
      read("ds_read_u8_d16 ds_load_u8_d16", Type::B32, ByteUnsigned | Low),
      read("ds_read_u8_d16_hi ds_load_u8_d16_hi", Type::B32,
           ByteUnsigned | High),
      read("ds_read_i8_d16 ds_load_i8_d16", Type::B32, ByteSigned | Low),
      read("ds_read_i8_d16_hi ds_load_i8_d16_hi", Type::B32, ByteSigned | High),
      read("ds_read_u16_d16 ds_load_u16_d16", Type::B32, ShortUnsigned | Low),
      read("ds_read_u16_d16_hi ds_load_u16_d16_hi", Type::B32,
           ShortUnsigned | High),
      read("ds_read_b32 ds_load_b32", Type::B32, Words),
      read("ds_read_b64 ds_load_b64", Type::B64, Words),
      read("ds_read_b96 ds_load_b96", Type::B96, Words),
      read("ds_read_b128 ds_load_b128", Type::B128, Words),
      write("ds_write_b8 ds_store_b8", Type::B32, ByteUnsigned),
      write("ds_write_b16 ds_store_b16", Type::B32, ShortUnsigned),
      write("ds_write_b8_d16_hi ds_store_b8_d16_hi", Type::B32,
            ByteUnsigned | High),
      write("ds_write_b16_d16_hi ds_store_b16_d16_hi", Type::B32,
            ShortUnsigned | High),
      write("ds_write_b32 ds_store_b32", Type::B32, Words),
      write("ds_write_b64 ds_store_b64", Type::B64, Words),
      write("ds_write_b96 ds_store_b96", Type::B96, Words),
      write("ds_write_b128 ds_store_b128", Type::B128, Words),
      custom("ds_read2_b32 ds_load_2addr_b32", loadTwo, Type::B64, {address},
             TwoAddresses),
      custom("ds_read2_b64 ds_load_2addr_b64", loadTwo, Type::B128, {address},
             TwoAddresses),
      custom("ds_read2st64_b32 ds_load_2addr_stride64_b32", loadTwo, Type::B64,
             {address}, TwoAddresses | Wide64),
      custom("ds_read2st64_b64 ds_load_2addr_stride64_b64", loadTwo, Type::B128,
             {address}, TwoAddresses | Wide64),
      custom("ds_write2_b32 ds_store_2addr_b32", storeTwo, Type::None,
             {address, Type::B32, Type::B32}, Store | TwoAddresses),
      custom("ds_write2_b64 ds_store_2addr_b64", storeTwo, Type::None,
             {address, Type::B64, Type::B64}, Store | TwoAddresses),
      custom("ds_write2st64_b32 ds_store_2addr_stride64_b32", storeTwo,
             Type::None, {address, Type::B32, Type::B32},
             Store | TwoAddresses | Wide64),
      custom("ds_write2st64_b64 ds_store_2addr_stride64_b64", storeTwo,
             Type::None, {address, Type::B64, Type::B64},
             Store | TwoAddresses | Wide64),
      custom("ds_bpermute_b32", pull, Type::B32, {address, Type::B32}),
      custom("ds_permute_b32", push, Type::B32, {address, Type::B32}),
      custom("ds_swizzle_b32", swizzle, Type::B32, {Type::B32}),
  };
}

std::span<const Semantics> sharedMemoryFamily() {
  static const std::vector<Semantics> rows = [] {
    std::vector<Semantics> all = accesses();
    for (const UpdateRow &row : updates) {
      bool compares = row.update == Update::CompareSwap;
      std::array<Type, 4> from = {Type::B32, row.type,
                                  compares ? row.type : Type::None};
      unsigned detail = unsigned(row.update) | (row.type == Type::B64 ? 8u : 4u)
                                                   << 8;
      all.push_back(custom(row.name, update, Type::None, from, Atomic, detail));
      all.push_back(custom(row.returning, update, row.type, from,
                           Atomic | Return, detail));
    }
    return all;
  }();
  return rows;
}

} // namespace nereid::sim::amd
