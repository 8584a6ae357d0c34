//===- Hash.h - Content hashes ----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BLAKE2b with a 32-byte digest, from RFC 7693. Chosen over SHA-256 because it
// needs only 64-bit arithmetic, and is faster on a processor without any
// instruction set extension (docs/decisions/Host.md). That is what a cache hit
// pays to verify a file.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_HASH_H
#define NEREID_SUPPORT_HASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nereid {

struct Digest {
  std::array<uint8_t, 32> bytes = {};

  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
  bool operator==(const Digest &) const = default;
};

class Hasher {
public:
  Hasher();
  Hasher &update(const void *data, size_t size);
  /// The length, then the characters: two lists of fields collide only when
  /// they are equal field by field.
  Hasher &field(std::string_view text);
  Hasher &field(uint64_t number);
  /// Ends the hash; no call may follow.
  Digest finish();

private:
  void compress(bool last);

  std::array<uint64_t, 8> state;
  std::array<uint8_t, 128> block;
  size_t used = 0;
  uint64_t count = 0; ///< bytes hashed so far; 2^64 is enough
};

Digest hashBytes(const void *data, size_t size);
inline Digest hashText(std::string_view text) {
  return hashBytes(text.data(), text.size());
}

} // namespace nereid

#endif // NEREID_SUPPORT_HASH_H
