//===- Utf8.h - Characters of UTF-8 -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Well-formed is what the Unicode standard's table 3-7 allows: no surrogates,
// nothing above U+10FFFF, no longer form than needed.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_UTF8_H
#define NEREID_SUPPORT_UTF8_H

#include <cstddef>
#include <string>
#include <string_view>

namespace nereid {

inline constexpr char32_t invalidCharacter = 0xffffffff;

/// The character at `offset`, which is inside the text and moves past it.
/// invalidCharacter, and one byte further, where the bytes are not UTF-8.
char32_t decodeUtf8(std::string_view text, size_t &offset);

/// Appends `c`; a surrogate gets its three-byte form (WTF-8).
void appendUtf8(std::string &out, char32_t c);

bool isValidUtf8(std::string_view text);

} // namespace nereid

#endif // NEREID_SUPPORT_UTF8_H
