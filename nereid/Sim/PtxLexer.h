//===- PtxLexer.h - Words of PTX --------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_PTXLEXER_H
#define NEREID_SIM_PTXLEXER_H

#include "nereid/Sim/Ptx.h"

namespace nereid::sim {

/// Thrown by the parser and the decoder; does not leave the library.
struct PtxError {
  uint32_t line;
  std::string message;
};

inline constexpr uint64_t maxRegisters = 1 << 20;

/// Opcodes with their dots are one word (`ld.global.v4.b32`), as are names with
/// `%` and `$`, numbers, and strings with their quotes; anything else is a
/// character.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) { advance(); }

  std::string_view peek() const { return word; }
  /// The word after the next, without its place.
  std::string_view peekSecond() const;
  std::string_view take();
  bool accept(std::string_view wanted);
  void expect(std::string_view wanted);
  bool atEnd() const { return word.empty(); }
  uint32_t line() const { return wordLine; }
  /// Where the next word begins.
  size_t position() const { return size_t(word.data() - text.data()); }
  /// What was read since, with single blanks.
  std::string compact(size_t begin) const;

  uint64_t number() { return integer(take()); }
  uint64_t integer(std::string_view digits) const;
  uint64_t hexadecimal(std::string_view digits) const;

private:
  void advance();
  void skipBlank();
  size_t wordEnd() const;

  std::string_view text, word;
  size_t at = 0, previousEnd = 0;
  uint32_t currentLine = 1, wordLine = 1;
};

} // namespace nereid::sim

#endif // NEREID_SIM_PTXLEXER_H
