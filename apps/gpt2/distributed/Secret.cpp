//===- Secret.cpp - The proof that a process belongs to a run -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Secret.h"

#include "nereid/Runtime/Error.h"

#include <cstdint>
#include <sodium.h>

using namespace nereid;

static_assert(gpt2::tagBytes == crypto_auth_hmacsha256_BYTES);

static const unsigned char *bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

/// Threads may come here at once: libsodium allows for that.
static void prepare() {
  if (sodium_init() < 0) {
    raise({ErrorCode::IoError, "libsodium has no random numbers here", {}});
  }
}

std::string gpt2::randomBytes() {
  prepare();
  std::string bytes(tagBytes, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return bytes;
}

std::string gpt2::makeSecret() {
  std::string bytes = randomBytes(), digits(2 * tagBytes + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), bytesOf(bytes), bytes.size());
  digits.pop_back();
  return digits;
}

std::string gpt2::tagOf(std::string_view secret,
                        std::initializer_list<std::string_view> parts) {
  prepare();
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, bytesOf(secret), secret.size());
  for (std::string_view part : parts) {
    uint64_t size = part.size();
    crypto_auth_hmacsha256_update(
        &state, reinterpret_cast<const unsigned char *>(&size), sizeof(size));
    crypto_auth_hmacsha256_update(&state, bytesOf(part), part.size());
  }
  std::string tag(tagBytes, '\0');
  crypto_auth_hmacsha256_final(&state,
                               reinterpret_cast<unsigned char *>(tag.data()));
  sodium_memzero(&state, sizeof(state));
  return tag;
}

bool gpt2::isTagOf(std::string_view tag, std::string_view secret,
                   std::initializer_list<std::string_view> parts) {
  return isSame(tag, tagOf(secret, parts));
}

bool gpt2::isSame(std::string_view tag, std::string_view expected) {
  return tag.size() == expected.size() &&
         sodium_memcmp(tag.data(), expected.data(), expected.size()) == 0;
}
