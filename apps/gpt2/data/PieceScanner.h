//===- PieceScanner.h - GPT-2's cuts of a text ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPT-2 cuts a text into pieces before any bytes are merged, with the pattern
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// A byte that is no part of a character counts as none of letter, number and
// white space. Tables: CharacterClasses.inc, which character_classes.py makes.
//
// Source of the pattern: encoder.py of openai/gpt-2.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_PIECESCANNER_H
#define NEREID_APPS_GPT2_DATA_PIECESCANNER_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nereid::gpt2 {

enum class CharacterClass : uint8_t { Other, Letter, Number, Space };

CharacterClass classOf(uint32_t code);

/// Past the end of the piece at `at`, where at < end. `end` is where the text
/// ends, or a place of `cutAfter`.
const uint8_t *pieceEnd(const uint8_t *at, const uint8_t *end);

/// The first place at or after `from` where the text may be cut in two so that
/// both halves have the pieces of the whole, whatever stands around it; no
/// place lies inside of <|endoftext|>. text.size() when there is none.
size_t cutAfter(std::string_view text, size_t from);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_PIECESCANNER_H
