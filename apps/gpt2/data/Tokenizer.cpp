//===- Tokenizer.cpp - Text as tokens, and back ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Tokenizer.h"

#include "apps/gpt2/data/BytePairTokenizer.h"
#include "apps/gpt2/data/CharacterTokenizer.h"
#include "apps/gpt2/data/DatasetMeta.h"
#include "apps/gpt2/data/Utf8.h"

#include "nereid/Runtime/Error.h"

#include <filesystem>

namespace nereid::gpt2 {

Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> tokens;
  encode(text, tokens);
  return tokens;
}

std::string_view Tokenizer::bytesOf(int32_t token) const {
  if (token < 0 || static_cast<size_t>(token) >= texts.size() ||
      texts[static_cast<size_t>(token)].empty()) {
    raise({ErrorCode::InvalidArgument,
           "expected a token of the vocabulary, 0 to " +
               std::to_string(size() - 1) + ", got " + std::to_string(token),
           {}});
  }
  return texts[static_cast<size_t>(token)];
}

std::string Tokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (int32_t token : tokens) {
    text += bytesOf(token);
  }
  return text;
}

std::string StreamDecoder::put(int32_t token) {
  pending += tokenizer->bytesOf(token);
  size_t whole = pending.size() - unfinishedBytes(pending);
  std::string text = wellFormed(std::string_view(pending).substr(0, whole));
  pending.erase(0, whole);
  return text;
}

std::string StreamDecoder::finish() {
  std::string text = wellFormed(pending);
  pending.clear();
  return text;
}

TokenizerPtr openTokenizer(const std::string &folder) {
  namespace fs = std::filesystem;
  std::string meta = folder + "/meta.json", vocab = folder + "/vocab.json";
  std::error_code error;
  if (fs::exists(meta, error)) {
    return tokenizerOf(readMeta(folder), folder);
  }
  if (fs::exists(vocab, error)) {
    return BytePairTokenizer::read(vocab, folder + "/merges.txt");
  }
  raise({ErrorCode::NotFound,
         folder + ": expected a folder with a tokenizer, that is meta.json "
                  "(nereid-gpt2 prepare writes it) or vocab.json and "
                  "merges.txt, got none of them",
         {}});
}

} // namespace nereid::gpt2
