//===- CharacterTokenizer.cpp - A token for each character ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/CharacterTokenizer.h"

#include "apps/gpt2/data/Utf8.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Log.h"
#include "nereid/Support/Utf8.h"

namespace nereid::gpt2 {

static const uint8_t *bytesAt(std::string_view text) {
  return reinterpret_cast<const uint8_t *>(text.data());
}

void CharacterSet::add(std::string_view text) {
  const uint8_t *end = bytesAt(text) + text.size();
  for (const uint8_t *at = bytesAt(text); at < end;) {
    Character character = characterAt(at, end);
    if (character.ok()) {
      codes.set(character.code);
    }
    at += character.bytes;
  }
}

std::vector<std::string> CharacterSet::characters() const {
  std::vector<std::string> result;
  for (uint32_t code = 0; code < codes.size(); ++code) {
    if (codes[code]) {
      appendUtf8(result.emplace_back(), code);
    }
  }
  return result;
}

CharacterTokenizer::CharacterTokenizer(std::vector<std::string> characters) {
  texts = std::move(characters);
  Hasher hasher;
  hasher.field("char");
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string &text = texts[i];
    Character character =
        text.empty() ? Character{}
                     : characterAt(bytesAt(text), bytesAt(text) + text.size());
    if (text.empty() || !character.ok() || character.bytes != text.size()) {
      raise({ErrorCode::InvalidArgument,
             "token " + std::to_string(i) + ": expected one character, got '" +
                 printable(text) + "'",
             {}});
    }
    if (character.code >= tokenOf.size()) {
      tokenOf.resize(character.code + 1, -1);
    }
    if (tokenOf[character.code] >= 0) {
      raise({ErrorCode::InvalidArgument,
             "'" + printable(text) +
                 "': expected each character once, got it as tokens " +
                 std::to_string(tokenOf[character.code]) + " and " +
                 std::to_string(i),
             {}});
    }
    tokenOf[character.code] = static_cast<int32_t>(i);
    hasher.field(text);
  }
  hash_ = hasher.finish();
}

void CharacterTokenizer::encode(std::string_view text,
                                std::vector<int32_t> &tokens) const {
  const uint8_t *first = bytesAt(text), *end = first + text.size();
  for (const uint8_t *at = first; at < end;) {
    Character character = characterAt(at, end);
    if (character.code >= tokenOf.size() || tokenOf[character.code] < 0) {
      std::string_view what(text.substr(at - first, character.bytes));
      std::string got = character.ok() ? "'" + printable(what) + "'"
                                       : "a byte that is not UTF-8";
      raise({ErrorCode::InvalidArgument,
             "byte " + std::to_string(at - first) +
                 " of the text: expected one of the " +
                 std::to_string(texts.size()) +
                 " characters of the vocabulary, got " + got,
             {}});
    }
    tokens.push_back(tokenOf[character.code]);
    at += character.bytes;
  }
}

} // namespace nereid::gpt2
