//===- AtomicOps.cpp - atom and red ---------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.13. Blocks run on several threads of the host, so that each is an
// atomic operation of the host, too: always of the strongest order.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AccessWords.h"
#include "nereid/Sim/Block.h"
#include "nereid/Sim/Lanes.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim {

template <typename T>
using Combine = T (*)(T old, T b, T c);

template <typename T>
static T addInteger(T old, T b, T) {
  return T(old + b);
}
template <typename T>
static T bitAnd(T old, T b, T) {
  return T(old & b);
}
template <typename T>
static T bitOr(T old, T b, T) {
  return T(old | b);
}
template <typename T>
static T bitXor(T old, T b, T) {
  return T(old ^ b);
}
template <typename T>
static T exchange(T, T b, T) {
  return b;
}
template <typename T>
static T compareAndSwap(T old, T b, T c) {
  return old == b ? c : old;
}
template <typename T>
static T minimumUnsigned(T old, T b, T) {
  return std::min(old, b);
}
template <typename T>
static T maximumUnsigned(T old, T b, T) {
  return std::max(old, b);
}
template <typename T>
static T minimumSigned(T old, T b, T) {
  using S = std::make_signed_t<T>;
  return T(std::min(S(old), S(b)));
}
template <typename T>
static T maximumSigned(T old, T b, T) {
  using S = std::make_signed_t<T>;
  return T(std::max(S(old), S(b)));
}
/// Up to b, then zero; down from b.
static uint32_t increment(uint32_t old, uint32_t b, uint32_t) {
  return old >= b ? 0 : old + 1;
}
static uint32_t decrement(uint32_t old, uint32_t b, uint32_t) {
  return old == 0 || old > b ? b : old - 1;
}
static uint32_t addF32(uint32_t old, uint32_t b, uint32_t) {
  return std::bit_cast<uint32_t>(std::bit_cast<float>(old) +
                                 std::bit_cast<float>(b));
}
static uint64_t addF64(uint64_t old, uint64_t b, uint64_t) {
  return std::bit_cast<uint64_t>(std::bit_cast<double>(old) +
                                 std::bit_cast<double>(b));
}
template <typename H>
static uint16_t addHalf(uint16_t old, uint16_t b, uint16_t) {
  return H::of(H{old}.value() + H{b}.value()).bits;
}
template <typename H, bool isMaximum>
static uint16_t extremeHalf(uint16_t old, uint16_t b, uint16_t) {
  double x = H{old}.value(), y = H{b}.value();
  return H::of(isMaximum ? std::fmax(x, y) : std::fmin(x, y)).bits;
}

template <typename T, Combine<T> combine>
static uint64_t update(unsigned char *at, uint64_t b, uint64_t c) {
  auto *place = reinterpret_cast<T *>(at);
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST), next;
  do {
    next = combine(old, T(b), T(c));
  } while (!__atomic_compare_exchange_n(place, &old, next, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}

/// Both numbers of a register, each by itself.
template <Combine<uint16_t> combine>
static uint64_t updateBoth(unsigned char *at, uint64_t b, uint64_t c) {
  uint64_t low = update<uint16_t, combine>(at, b, c);
  uint64_t high = update<uint16_t, combine>(at + 2, b >> 16, c >> 16);
  return high << 16 | low;
}

using Update = uint64_t (*)(unsigned char *, uint64_t, uint64_t);

namespace {
struct UpdateRow {
  const char *op, *type;
  Update update;
};
} // namespace

#define NEREID_SIM_UPDATE(op, bits, f)                                         \
  {op, #bits, update<uint##bits##_t, f<uint##bits##_t>>}
#define NEREID_SIM_HALF_UPDATE(op, f)                                          \
  {op, "f16", update<uint16_t, f<Half>>},                                      \
      {op, "bf16", update<uint16_t, f<BFloat>>},                               \
      {op, "f16x2", updateBoth<f<Half>>}, {                                    \
    op, "bf16x2", updateBoth<f<BFloat>>                                        \
  }

template <typename H>
static uint16_t minimumHalf(uint16_t old, uint16_t b, uint16_t c) {
  return extremeHalf<H, false>(old, b, c);
}
template <typename H>
static uint16_t maximumHalf(uint16_t old, uint16_t b, uint16_t c) {
  return extremeHalf<H, true>(old, b, c);
}

/// Types of integers are given by their bits where the sign does not matter.
static constexpr UpdateRow updates[] = {
    NEREID_SIM_UPDATE("add", 32, addInteger),
    NEREID_SIM_UPDATE("add", 64, addInteger),
    NEREID_SIM_UPDATE("and", 32, bitAnd),
    NEREID_SIM_UPDATE("and", 64, bitAnd),
    NEREID_SIM_UPDATE("or", 32, bitOr),
    NEREID_SIM_UPDATE("or", 64, bitOr),
    NEREID_SIM_UPDATE("xor", 32, bitXor),
    NEREID_SIM_UPDATE("xor", 64, bitXor),
    NEREID_SIM_UPDATE("exch", 16, exchange),
    NEREID_SIM_UPDATE("exch", 32, exchange),
    NEREID_SIM_UPDATE("exch", 64, exchange),
    NEREID_SIM_UPDATE("cas", 16, compareAndSwap),
    NEREID_SIM_UPDATE("cas", 32, compareAndSwap),
    NEREID_SIM_UPDATE("cas", 64, compareAndSwap),
    {"min", "u32", update<uint32_t, minimumUnsigned<uint32_t>>},
    {"min", "u64", update<uint64_t, minimumUnsigned<uint64_t>>},
    {"max", "u32", update<uint32_t, maximumUnsigned<uint32_t>>},
    {"max", "u64", update<uint64_t, maximumUnsigned<uint64_t>>},
    {"min", "s32", update<uint32_t, minimumSigned<uint32_t>>},
    {"min", "s64", update<uint64_t, minimumSigned<uint64_t>>},
    {"max", "s32", update<uint32_t, maximumSigned<uint32_t>>},
    {"max", "s64", update<uint64_t, maximumSigned<uint64_t>>},
    {"inc", "u32", update<uint32_t, increment>},
    {"dec", "u32", update<uint32_t, decrement>},
    {"add", "f32", update<uint32_t, addF32>},
    {"add", "f64", update<uint64_t, addF64>},
    NEREID_SIM_HALF_UPDATE("add", addHalf),
    NEREID_SIM_HALF_UPDATE("min", minimumHalf),
    NEREID_SIM_HALF_UPDATE("max", maximumHalf),
};

/// detail: [0] bytes of an element, [1] Space, [2] the row, [3] elements.
static void updateLanes(Warp &warp, const Instruction &instruction) {
  auto bytes = uint32_t(instruction.detail[0]);
  auto count = uint32_t(instruction.detail[3]);
  Update change = updates[instruction.detail[2]].update;
  const LaneVector &addresses = warp.at(instruction.from[0]);
  if (!warp.block.counts.empty()) {
    WarpAccess access{warp.active, {}, bytes * count};
    forLanes(warp.active, [&](unsigned lane) {
      access.addresses[lane] = addresses[lane] + uint64_t(instruction.offset);
    });
    warp.block.count(warp, access, Space(instruction.detail[1]),
                     Access::Atomic);
  }
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t address = addresses[lane] + uint64_t(instruction.offset);
    unsigned char *at =
        warp.block.resolve(warp, lane, address, bytes * count,
                           Space(instruction.detail[1]), Access::Atomic);
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t b = warp.at(instruction.from[1 + i])[lane];
      bool hasThird = instruction.from.size() > 1 + count;
      uint64_t c = hasThird ? warp.at(instruction.from[2])[lane] : 0;
      uint64_t old = change(at + i * bytes, b, c);
      if (i < instruction.to.size() && instruction.to[i] != noIndex) {
        warp.at(instruction.to[i])[lane] = old;
      }
    }
  });
}

static void decodeAtomic(Decoder &d) {
  static constexpr const char *operations[] = {
      "add", "and", "or", "xor", "exch", "cas", "min", "max", "inc", "dec"};
  std::string_view op, type = d.lastWord();
  for (size_t i = 1; i + 1 < d.statement->words.size(); ++i) {
    std::string_view word = d.word(i);
    bool isOperation = std::find(std::begin(operations), std::end(operations),
                                 word) != std::end(operations);
    if (isOperation) {
      op = word;
    } else if (!isAccessWord(word) && word != "acq_rel" && word != "noftz" &&
               word != "sc") {
      d.refuse();
    }
  }
  std::string_view digits = type.substr(std::min<size_t>(1, type.size()));
  const UpdateRow *found = nullptr;
  for (const UpdateRow &row : updates) {
    bool isInteger =
        row.type[0] < 'a' && !type.starts_with("f") && !type.starts_with("bf");
    if (op == row.op &&
        (type == row.type || (isInteger && digits == row.type))) {
      found = &row;
    }
  }
  if (!found) {
    d.refuse();
  }
  bool returns = d.word(0) == "atom";
  if (returns) {
    for (const Operand *element : Decoder::elements(d.operand(0))) {
      d.made->to.push_back(d.result(*element));
    }
  }
  size_t addressAt = returns ? 1 : 0;
  d.address(addressAt);
  auto values = Decoder::elements(d.operand(addressAt + 1));
  for (const Operand *element : values) {
    d.made->from.push_back(d.source(*element));
  }
  if (op == "cas") {
    d.made->from.push_back(d.source(addressAt + 2));
  }
  d.made->detail[0] = typeBits(d, type) / 8;
  d.made->detail[1] = uint64_t(spaceOf(d, d.operand(addressAt)));
  d.made->detail[2] = uint64_t(found - updates);
  d.made->detail[3] = values.size();
  d.made->execute = updateLanes;
}

void addAtomicOps(DecodeTable &table) {
  table["atom"] = decodeAtomic;
  table["red"] = decodeAtomic;
}

} // namespace nereid::sim
