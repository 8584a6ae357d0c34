//===- Decode.h - Bytes of a file to UTF-8 lines ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_LEX_DECODE_H
#define NEREID_SYNTAX_LEX_DECODE_H

#include "nereid/Syntax/Lex/Lexer.h"

#include <optional>
#include <string>

namespace nereid::syntax {

/// Brings `text` into the form the lexer reads: UTF-8 without a byte order
/// mark, '\n' line ends, a last line that has one. The encoding is declared as
/// PEP 263 says: UTF-8 (assumed; not checked here), ASCII, Latin-1, Latin-9,
/// CP1252 or KOI8-R. Returns what is wrong, if anything; then `text` is still
/// fit to be shown.
std::optional<Problem> decodeSource(std::string &text);

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_LEX_DECODE_H
