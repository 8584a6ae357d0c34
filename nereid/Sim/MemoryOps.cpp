//===- MemoryOps.cpp - Loads and stores -----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.9, ld and st. What they say of caches changes no result.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AccessWords.h"
#include "nereid/Sim/Block.h"
#include "nereid/Sim/Lanes.h"

#include <array>
#include <bit>
#include <cstring>

namespace nereid::sim {

static constexpr const char *accessWords[] = {
    "weak",    "volatile", "relaxed", "acquire",     "release", "cta",
    "cluster", "gpu",      "sys",     "global",      "shared",  "shared::cta",
    "local",   "param",    "const",   "ca",          "cg",      "cs",
    "lu",      "cv",       "wb",      "wt",          "nc",      "mmio",
    "v2",      "v4",       "v8",      "param::entry"};

bool isAccessWord(std::string_view word) {
  for (const char *known : accessWords) {
    if (word == known) {
      return true;
    }
  }
  return word.starts_with("L1::") || word.starts_with("L2::");
}

Space spaceOf(const Decoder &d, const Operand &address) {
  return address.space == Space::Local && !address.hasBase ? Space::Local
         : d.has("global") || d.has("const")               ? Space::Global
         : d.has("shared") || d.has("shared::cta")         ? Space::Shared
         : d.has("local")                                  ? Space::Local
         : d.has("param") || d.has("param::entry")         ? Space::Param
                                                           : Space::Generic;
}

unsigned typeBits(Decoder &d, std::string_view type) {
  for (unsigned bits : {8u, 16u, 32u, 64u, 128u}) {
    if (type.ends_with(std::to_string(bits)) && type.size() < 6) {
      return bits;
    }
  }
  if (type == "f16x2" || type == "bf16x2") {
    return 32;
  }
  d.refuse();
}

/// detail: [0] bytes of an element, [1] Space, [2] bits to extend the sign
/// from, or 0, [3] bits of the register.
static void decodeAccess(Decoder &d, size_t addressAt, size_t valuesAt) {
  const std::vector<std::string_view> &words = d.statement->words;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    if (!isAccessWord(words[i])) {
      d.refuse();
    }
  }
  unsigned bits = typeBits(d, d.lastWord());
  if (bits > 64) {
    d.refuse();
  }
  d.address(addressAt);
  d.made->detail[0] = bits / 8;
  d.made->detail[1] = uint64_t(spaceOf(d, d.operand(addressAt)));
  d.made->detail[2] = d.lastWord().starts_with("s") ? bits : 0;
  auto elements = Decoder::elements(d.operand(valuesAt));
  size_t wanted = d.has("v2") ? 2 : d.has("v4") ? 4 : d.has("v8") ? 8 : 1;
  if (elements.size() != wanted) {
    d.refuse("another number of elements");
  }
}

/// With a profile: where the active lanes access.
static void countAccess(Warp &warp, const Instruction &instruction,
                        uint32_t bytes, Space space, Access kind) {
  if (warp.block.counts.empty()) {
    return;
  }
  WarpAccess access{warp.active, {}, bytes};
  const LaneVector &addresses = warp.at(instruction.from[0]);
  forLanes(warp.active, [&](unsigned lane) {
    access.addresses[lane] = addresses[lane] + uint64_t(instruction.offset);
  });
  warp.block.count(warp, access, space, kind);
}

/// What a load leaves in its register.
static uint64_t extended(uint64_t value, const Instruction &instruction) {
  auto signFrom = unsigned(instruction.detail[2]);
  if (!signFrom) {
    return value;
  }
  return uint64_t(int64_t(value << (64 - signFrom)) >> (64 - signFrom)) &
         instruction.detail[3];
}

template <uint32_t Bytes>
static void load(Warp &warp, const Instruction &instruction) {
  auto space = Space(instruction.detail[1]);
  auto count = uint32_t(instruction.to.size());
  const LaneVector &addresses = warp.at(instruction.from[0]);
  countAccess(warp, instruction, Bytes * count, space, Access::Read);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t address = addresses[lane] + uint64_t(instruction.offset);
    const unsigned char *from = warp.block.resolve(
        warp, lane, address, Bytes * count, space, Access::Read);
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, from + i * Bytes, Bytes);
      value = extended(value, instruction);
      if (instruction.to[i] != noIndex) {
        warp.at(instruction.to[i])[lane] = value;
      }
    }
  });
}

/// From what the launch gave: the same for all lanes.
static void loadParameter(Warp &warp, const Instruction &instruction) {
  auto bytes = uint32_t(instruction.detail[0]);
  const std::vector<unsigned char> &parameters = warp.block.launch.parameters;
  const LaneVector &addresses = warp.at(instruction.from[0]);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t address = addresses[lane] + uint64_t(instruction.offset);
    for (size_t i = 0; i < instruction.to.size(); ++i, address += bytes) {
      uint64_t value = 0;
      if (address + bytes > parameters.size()) {
        warp.block.fault(warp, lane, Fault::Kind::IllegalAddress,
                         "past the last parameter");
      }
      std::memcpy(&value, &parameters[address], bytes);
      value = extended(value, instruction);
      if (instruction.to[i] != noIndex) {
        warp.at(instruction.to[i])[lane] = value;
      }
    }
  });
}

template <uint32_t Bytes>
static void store(Warp &warp, const Instruction &instruction) {
  auto space = Space(instruction.detail[1]);
  auto count = uint32_t(instruction.from.size() - 1);
  const LaneVector &addresses = warp.at(instruction.from[0]);
  countAccess(warp, instruction, Bytes * count, space, Access::Write);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t address = addresses[lane] + uint64_t(instruction.offset);
    unsigned char *to = warp.block.resolve(warp, lane, address, Bytes * count,
                                           space, Access::Write);
    for (uint32_t i = 0; i < count; ++i) {
      std::memcpy(to + i * Bytes, &warp.at(instruction.from[i + 1])[lane],
                  Bytes);
    }
  });
}

/// Of elements of so many bytes: 1, 2, 4 or 8.
static Execute ofBytes(uint64_t bytes, const std::array<Execute, 4> &sizes) {
  return sizes[size_t(std::countr_zero(bytes))];
}

static void decodeLoad(Decoder &d) {
  decodeAccess(d, 1, 0);
  unsigned bits = 0;
  for (const Operand *element : Decoder::elements(d.operand(0))) {
    d.made->to.push_back(d.result(*element));
    bits = std::max(bits, element->kind == Operand::Kind::Register
                              ? d.bitsOf(*element)
                              : 0);
  }
  d.made->detail[3] = lowBits(bits);
  bool isParameter = Space(d.made->detail[1]) == Space::Param;
  d.made->execute = isParameter ? loadParameter
                                : ofBytes(d.made->detail[0],
                                          {load<1>, load<2>, load<4>, load<8>});
}

static void decodeStore(Decoder &d) {
  decodeAccess(d, 0, 1);
  for (const Operand *element : Decoder::elements(d.operand(1))) {
    d.made->from.push_back(d.source(*element));
  }
  if (Space(d.made->detail[1]) == Space::Param) {
    d.refuse();
  }
  d.made->execute =
      ofBytes(d.made->detail[0], {store<1>, store<2>, store<4>, store<8>});
}

/// Prefetches and their like change no result.
static void decodePrefetch(Decoder &d) { d.made->execute = doNothing; }

void addMemoryOps(DecodeTable &table) {
  table["ld"] = decodeLoad;
  table["ldu"] = decodeLoad;
  table["st"] = decodeStore;
  table["prefetch"] = decodePrefetch;
  table["prefetchu"] = decodePrefetch;
  table["applypriority"] = decodePrefetch;
  table["discard"] = decodePrefetch;
  table["createpolicy"] = [](Decoder &d) { d.made->execute = doNothing; };
}

} // namespace nereid::sim
