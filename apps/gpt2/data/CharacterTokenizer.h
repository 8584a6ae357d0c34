//===- CharacterTokenizer.h - A token for each character --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The characters of a text, sorted by code point, as nanoGPT's shakespeare_char
// numbers them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_CHARACTERTOKENIZER_H
#define NEREID_APPS_GPT2_DATA_CHARACTERTOKENIZER_H

#include "apps/gpt2/data/Tokenizer.h"

#include <bitset>

namespace nereid::gpt2 {

/// Which characters occur.
class CharacterSet {
public:
  /// `text` is UTF-8 throughout.
  void add(std::string_view text);
  void add(const CharacterSet &other) { codes |= other.codes; }
  /// In the order of their code points.
  std::vector<std::string> characters() const;

private:
  std::bitset<0x110000> codes; ///< 136 KiB: not for the stack
};

class CharacterTokenizer : public Tokenizer {
public:
  /// Throws InvalidArgument unless each is one character that occurs once.
  explicit CharacterTokenizer(std::vector<std::string> characters);

  const char *kind() const override { return "char"; }
  int32_t size() const override { return static_cast<int32_t>(texts.size()); }
  using Tokenizer::encode;
  void encode(std::string_view text,
              std::vector<int32_t> &tokens) const override;
  std::optional<int32_t> endOfText() const override { return std::nullopt; }
  void save(const std::string &) const override {}
  std::vector<std::string> characters() const override { return texts; }

private:
  std::vector<int32_t> tokenOf; ///< by code point; -1: none
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_CHARACTERTOKENIZER_H
