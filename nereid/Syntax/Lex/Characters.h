//===- Characters.h - Code points, and what Unicode says of them -*- C++ -*-==//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unicode 14, the version of Python 3.11. The tables are UnicodeTables.inc and
// CharacterNames.inc, both made by generate_unicode_tables.py.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_LEX_CHARACTERS_H
#define NEREID_SYNTAX_LEX_CHARACTERS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::syntax {

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isHexDigit(char c) {
  return isDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}
/// Every byte of a non-ASCII character counts; the whole name is checked later.
inline bool isNameStart(char c) {
  return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}
inline bool isNameCharacter(char c) { return isNameStart(c) || isDigit(c); }

bool isXidStart(char32_t c);
bool isXidContinue(char32_t c);
/// As str.isprintable().
bool isPrintable(char32_t c);

/// NFKC of an identifier (or of any text of XID characters).
std::string normalizeIdentifier(std::string_view name);

/// The character called `name` in "\N{name}", case-insensitively, aliases
/// included.
std::optional<char32_t> characterNamed(std::string_view name);

/// "U+00E9"
std::string codePointName(char32_t c);

/// For characters that word processors put in the place of ASCII ones.
std::string hintForCharacter(char32_t c);

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_LEX_CHARACTERS_H
