//===- ByteAlphabet.cpp - Bytes as GPT-2 spells them ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/ByteAlphabet.h"

#include "apps/gpt2/data/Utf8.h"

#include "nereid/Support/Utf8.h"

#include <array>

namespace nereid::gpt2 {

namespace {
struct Alphabet {
  std::array<uint32_t, 256> spelling{};
  std::array<int, 0x144> byte{}; ///< -1: none
  std::array<uint8_t, 256> inOrder{};

  constexpr Alphabet() {
    byte.fill(-1);
    uint32_t others = 0x100;
    for (uint32_t b = 0; b < 256; ++b) {
      bool isSeen = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD);
      spelling[b] = isSeen ? b : others++;
      byte[spelling[b]] = static_cast<int>(b);
    }
    size_t i = 0;
    for (int b : byte) {
      if (b >= 0) {
        inOrder[i++] = static_cast<uint8_t>(b);
      }
    }
  }
};
constexpr Alphabet alphabet;
} // namespace

uint32_t spellingOf(uint8_t byte) { return alphabet.spelling[byte]; }

std::optional<uint8_t> byteSpelledBy(uint32_t code) {
  if (code >= alphabet.byte.size() || alphabet.byte[code] < 0) {
    return std::nullopt;
  }
  return static_cast<uint8_t>(alphabet.byte[code]);
}

std::string spelled(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) {
    appendUtf8(text, spellingOf(static_cast<uint8_t>(byte)));
  }
  return text;
}

std::optional<std::string> unspelled(std::string_view text) {
  std::string bytes;
  const uint8_t *at = reinterpret_cast<const uint8_t *>(text.data());
  const uint8_t *end = at + text.size();
  while (at < end) {
    Character character = characterAt(at, end);
    std::optional<uint8_t> byte = byteSpelledBy(character.code);
    if (!byte) {
      return std::nullopt;
    }
    bytes += static_cast<char>(*byte);
    at += character.bytes;
  }
  return bytes;
}

uint8_t byteInOrder(int i) { return alphabet.inOrder[static_cast<size_t>(i)]; }

} // namespace nereid::gpt2
