//===- Hash.cpp - Content hashes ------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Hash.h"

#include <bit>
#include <cstring>
#include <utility>

namespace nereid {

// Initial values: the fractional parts of the square roots of the first eight
// primes (RFC 7693, 2.6).
static constexpr std::array<uint64_t, 8> initial = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// Message word permutations (RFC 7693, 2.7); rounds 10 and 11 repeat 0 and 1.
static constexpr uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline void mix(uint64_t &a, uint64_t &b, uint64_t &c, uint64_t &d,
                       uint64_t x, uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

template <int round>
static inline void mixRound(uint64_t *v, const uint64_t *m) {
  constexpr const uint8_t *s = sigma[round % 10];
  mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
  mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
  mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
  mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
  mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
  mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
  mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
  mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
}

Hasher::Hasher() : state(initial) {
  // Parameter block: digest of 32 bytes, no key, fan-out and depth 1.
  state[0] ^= 0x01010000 ^ 32;
}

void Hasher::compress(bool last) {
  uint64_t m[16], v[16];
  std::memcpy(m, block.data(), sizeof(m));
  for (int i = 0; i < 8; ++i) {
    v[i] = state[i];
    v[i + 8] = initial[i];
  }
  v[12] ^= count;
  if (last) {
    v[14] = ~v[14];
  }
  // Unrolled by the fold, so that the permutation is constant, which is
  // faster than a loop over it (docs/decisions/Host.md).
  [&]<int... round>(std::integer_sequence<int, round...>) {
    (mixRound<round>(v, m), ...);
  }(std::make_integer_sequence<int, 12>());
  for (int i = 0; i < 8; ++i) {
    state[i] ^= v[i] ^ v[i + 8];
  }
}

Hasher &Hasher::update(const void *data, size_t size) {
  auto *bytes = static_cast<const uint8_t *>(data);
  while (size) {
    // A full block is only compressed when more follows: the last one needs
    // the flag.
    if (used == block.size()) {
      count += used;
      compress(false);
      used = 0;
    }
    size_t part = std::min(size, block.size() - used);
    std::memcpy(block.data() + used, bytes, part);
    used += part;
    bytes += part;
    size -= part;
  }
  return *this;
}

Hasher &Hasher::field(uint64_t number) {
  return update(&number, sizeof(number));
}

Hasher &Hasher::field(std::string_view text) {
  return field(static_cast<uint64_t>(text.size()))
      .update(text.data(), text.size());
}

Digest Hasher::finish() {
  count += used;
  std::memset(block.data() + used, 0, block.size() - used);
  compress(true);
  Digest digest;
  std::memcpy(digest.bytes.data(), state.data(), digest.bytes.size());
  return digest;
}

Digest hashBytes(const void *data, size_t size) {
  return Hasher().update(data, size).finish();
}

std::string Digest::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace nereid
