//===- BytePairTrainer.h - Merges of byte-level BPE from a text -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pieces of the text are counted; then the pair of tokens that is the most
// frequent becomes a token, the one of lower numbers among equals, until the
// vocabulary has its size. Pairs that occur once are left alone. Only the words
// that have a pair are touched when it merges.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_BYTEPAIRTRAINER_H
#define NEREID_APPS_GPT2_DATA_BYTEPAIRTRAINER_H

#include "apps/gpt2/data/BytePairTokenizer.h"

#include <functional>
#include <unordered_map>

namespace nereid::gpt2 {

/// The bytes, and <|endoftext|>.
inline constexpr int32_t leastBytePairVocabulary = 257;

class BytePairTrainer {
public:
  /// Counts the pieces of a text. <|endoftext|> only parts texts.
  void add(std::string_view text);
  void add(BytePairTrainer &&other);
  /// A vocabulary of `size` tokens, or fewer when no pair is left: the bytes in
  /// GPT-2's order, the merges, <|endoftext|> last. `progress` gets the tokens
  /// so far.
  std::shared_ptr<const BytePairTokenizer>
  train(int32_t size, const std::function<void(int32_t)> &progress = {}) const;

private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>> pieces;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_BYTEPAIRTRAINER_H
