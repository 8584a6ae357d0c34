//===- LaneMemory.cpp - What a lane does to memory ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/LaneMemory.h"

#include "nereid/Sim/Float.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace nereid::sim::amd {

uint32_t elementBytes(unsigned detail, unsigned words) {
  switch (detail & ElementMask) {
  case ByteUnsigned:
  case ByteSigned:
    return 1;
  case ShortUnsigned:
  case ShortSigned:
    return 2;
  default:
    return words * 4;
  }
}

void loadElement(Wave &wave, const Operand &to, unsigned detail, unsigned lane,
                 const unsigned char *from, unsigned skip, unsigned words) {
  unsigned element = detail & ElementMask;
  if (element == Words) {
    for (unsigned i = 0; i < words; ++i) {
      uint32_t word;
      std::memcpy(&word, from + size_t(i) * 4, 4);
      wave.writeLane(to, skip + i, lane, word);
    }
    return;
  }
  uint32_t value = 0;
  std::memcpy(&value, from, elementBytes(detail, 1));
  if (element == ByteSigned) {
    value = uint32_t(int32_t(int8_t(value)));
  } else if (element == ShortSigned) {
    value = uint32_t(int32_t(int16_t(value)));
  }
  if (detail & (Low | High)) {
    // CDNA's registers have error correction, and are written as a whole.
    bool keeps = wave.program.generation != Generation::Cdna;
    uint32_t old = keeps ? wave.lane(to, skip, lane) : 0;
    value = detail & High ? (old & 0xffff) | value << 16
                          : (old & 0xffff0000) | (value & 0xffff);
  }
  wave.writeLane(to, skip, lane, value);
}

void storeElement(const Wave &wave, const Operand &data, unsigned detail,
                  unsigned lane, unsigned char *to, unsigned words) {
  if ((detail & ElementMask) == Words) {
    for (unsigned i = 0; i < words; ++i) {
      uint32_t word = wave.lane(data, i, lane);
      std::memcpy(to + size_t(i) * 4, &word, 4);
    }
    return;
  }
  uint32_t word = wave.lane(data, 0, lane) >> (detail & High ? 16 : 0);
  std::memcpy(to, &word, elementBytes(detail, 1));
}

uint64_t laneNumber(const Wave &wave, const Operand &of, unsigned lane,
                    uint32_t bytes, unsigned skip) {
  uint64_t value = wave.lane(of, skip, lane);
  return bytes == 8 ? value | uint64_t(wave.lane(of, skip + 1, lane)) << 32
                    : value;
}

template <typename T>
static T minimum(T a, T b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::min(a, b);
}
template <typename T>
static T maximum(T a, T b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b);
}

template <typename T>
static T updatedFloat(Update update, T old, T value) {
  return update == Update::AddFloat   ? old + value
         : update == Update::MinFloat ? minimum(old, value)
                                      : maximum(old, value);
}

template <typename H>
static uint32_t addedHalves(uint32_t old, uint32_t value) {
  auto sum = [&](unsigned shift) {
    return uint32_t(H::of(H{uint16_t(old >> shift)}.value() +
                          H{uint16_t(value >> shift)}.value())
                        .bits)
           << shift;
  };
  return sum(0) | sum(16);
}

template <typename U, typename F>
static U updated(Update update, U old, U value, U expected) {
  using S = std::make_signed_t<U>;
  switch (update) {
  case Update::Add:
    return old + value;
  case Update::Subtract:
    return old - value;
  case Update::ReverseSubtract:
    return value - old;
  case Update::Increase:
    return old >= value ? 0 : old + 1;
  case Update::Decrease:
    return old == 0 || old > value ? value : old - 1;
  case Update::SignedMin:
    return U(std::min(S(old), S(value)));
  case Update::UnsignedMin:
    return std::min(old, value);
  case Update::SignedMax:
    return U(std::max(S(old), S(value)));
  case Update::UnsignedMax:
    return std::max(old, value);
  case Update::And:
    return old & value;
  case Update::Or:
    return old | value;
  case Update::Xor:
    return old ^ value;
  case Update::Swap:
    return value;
  case Update::CompareSwap:
    return old == expected ? value : old;
  case Update::AddHalves:
    return U(addedHalves<Half>(uint32_t(old), uint32_t(value)));
  case Update::AddBfloats:
    return U(addedHalves<BFloat>(uint32_t(old), uint32_t(value)));
  default:
    return std::bit_cast<U>(updatedFloat<F>(update, std::bit_cast<F>(old),
                                            std::bit_cast<F>(value)));
  }
}

template <typename U, typename F>
static U exchange(Update update, unsigned char *at, U value, U expected) {
  std::atomic_ref<U> place(*reinterpret_cast<U *>(at));
  U old = place.load();
  while (!place.compare_exchange_weak(
      old, updated<U, F>(update, old, value, expected))) {
  }
  return old;
}

uint64_t updateMemory(Update update, unsigned char *at, uint32_t bytes,
                      uint64_t value, uint64_t expected) {
  return bytes == 8 ? exchange<uint64_t, double>(update, at, value, expected)
                    : exchange<uint32_t, float>(update, at, uint32_t(value),
                                                uint32_t(expected));
}

} // namespace nereid::sim::amd
