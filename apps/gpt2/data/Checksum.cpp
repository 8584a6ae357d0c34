//===- Checksum.cpp - Checksums of tokens ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Checksum.h"

#include <bit>
#include <cstring>
#include <initializer_list>

namespace nereid::gpt2 {

static constexpr uint64_t prime1 = 0x9E3779B185EBCA87,
                          prime2 = 0xC2B2AE3D27D4EB4F,
                          prime3 = 0x165667B19E3779F9,
                          prime4 = 0x85EBCA77C2B2AE63,
                          prime5 = 0x27D4EB2F165667C5;

static uint64_t mixed(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * prime2, 31) * prime1;
}

static uint64_t joined(uint64_t hash, uint64_t lane) {
  return (hash ^ mixed(0, lane)) * prime1 + prime4;
}

template <typename T>
static uint64_t take(const uint8_t *&at) {
  T word;
  std::memcpy(&word, at, sizeof(T));
  at += sizeof(T);
  return word;
}

uint64_t checksum(const void *data, size_t bytes) {
  const uint8_t *at = static_cast<const uint8_t *>(data), *end = at + bytes;
  uint64_t hash = prime5;
  if (bytes >= 32) {
    uint64_t a = prime1 + prime2, b = prime2, c = 0, d = 0 - prime1;
    while (end - at >= 32) {
      a = mixed(a, take<uint64_t>(at));
      b = mixed(b, take<uint64_t>(at));
      c = mixed(c, take<uint64_t>(at));
      d = mixed(d, take<uint64_t>(at));
    }
    hash =
        std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    for (uint64_t lane : {a, b, c, d}) {
      hash = joined(hash, lane);
    }
  }
  hash += bytes;
  while (end - at >= 8) {
    hash = std::rotl(hash ^ mixed(0, take<uint64_t>(at)), 27) * prime1 + prime4;
  }
  if (end - at >= 4) {
    hash = std::rotl(hash ^ take<uint32_t>(at) * prime1, 23) * prime2 + prime3;
  }
  while (at < end) {
    hash = std::rotl(hash ^ take<uint8_t>(at) * prime5, 11) * prime1;
  }
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

} // namespace nereid::gpt2
