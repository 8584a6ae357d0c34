//===- ByteAlphabet.h - Bytes as GPT-2 spells them --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vocab.json and merges.txt spell each byte as a character that can be seen:
// the printable ones of Latin-1 as themselves, the others from U+0100 on, in
// their order. A space is U+0120.
//
// Source: bytes_to_unicode in encoder.py of openai/gpt-2.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_BYTEALPHABET_H
#define NEREID_APPS_GPT2_DATA_BYTEALPHABET_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::gpt2 {

/// The character that spells a byte.
uint32_t spellingOf(uint8_t byte);
/// The other way round.
std::optional<uint8_t> byteSpelledBy(uint32_t code);

std::string spelled(std::string_view bytes);
/// Nothing when a character spells no byte.
std::optional<std::string> unspelled(std::string_view text);

/// The i-th byte in the order of the spellings, which is the order of GPT-2's
/// first 256 tokens.
uint8_t byteInOrder(int i);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_BYTEALPHABET_H
