//===- BytePairTokenizer.h - GPT-2's byte-level BPE -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text is cut into pieces (PieceScanner.h); in each piece, beginning with its
// bytes, the pair of neighbours with the lowest rank becomes one token, the
// leftmost of equals first, until no pair has a rank. <|endoftext|> is one
// token where the vocabulary has it, and never a part of a piece; so are tokens
// that were added to a vocabulary ("[PAD]"): the leftmost one is taken, of
// several at one place the longest.
//
// Pieces of up to 15 bytes that become at most three tokens are remembered: in
// most texts nearly all are found, and the pair table is for the others.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_BYTEPAIRTOKENIZER_H
#define NEREID_APPS_GPT2_DATA_BYTEPAIRTOKENIZER_H

#include "apps/gpt2/data/Tokenizer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace nereid::gpt2 {

/// Far above any vocabulary, and small enough for a table.
inline constexpr size_t mostBytePairTokens = size_t{1} << 24;

/// Below this the numbers of a file with so many tokens must be. There may be
/// gaps; but what is kept for each number should not be far more than the file.
inline constexpr int64_t numbersFor(size_t tokens) {
  return static_cast<int64_t>(
      std::min(mostBytePairTokens, 2 * tokens + (size_t{1} << 16)));
}

/// "merges[rank]: left and right become result", all tokens.
struct Merge {
  int32_t left, right, result;
};

/// A text that is one token wherever it stands.
struct AddedToken {
  std::string text;
  int32_t token = 0;
};

/// A hash table of pairs of tokens.
class PairTable {
public:
  struct Entry {
    uint64_t pair = ~uint64_t{0};
    uint32_t rank = 0;
    int32_t result = 0;
  };
  /// A pair that occurs twice has its last rank.
  explicit PairTable(const std::vector<Merge> &merges);
  static uint64_t pairOf(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 |
           static_cast<uint32_t>(right);
  }
  /// Null when the pair does not merge.
  const Entry *find(int32_t left, int32_t right) const {
    uint64_t pair = pairOf(left, right);
    for (uint64_t slot = slotOf(pair);; slot = (slot + 1) & mask) {
      const Entry &entry = entries[slot];
      if (entry.pair == pair) {
        return &entry;
      }
      if (entry.pair == ~uint64_t{0}) {
        return nullptr;
      }
    }
  }

private:
  uint64_t slotOf(uint64_t pair) const {
    return pair * 0x9E3779B97F4A7C15 >> shift;
  }
  std::vector<Entry> entries;
  uint64_t mask;
  int shift;
};

class BytePairTokenizer : public Tokenizer {
public:
  /// `vocabulary`: the spelling of each token (ByteAlphabet.h) at its number;
  /// an empty one is a gap. `added`: beside <|endoftext|>; they may stand
  /// after the vocabulary. Throws InvalidArgument when a byte has no token.
  BytePairTokenizer(std::vector<std::string> vocabulary,
                    std::vector<Merge> merges,
                    const std::vector<AddedToken> &added = {});
  /// Reads both files, and added_tokens.json where it lies beside vocab.json.
  /// Throws NotFound or IoError.
  static std::shared_ptr<const BytePairTokenizer>
  read(const std::string &vocabJson, const std::string &mergesText);
  /// tokenizer.json, as `tokenizers` and transformers 5 write it. Throws
  /// NotFound, IoError, and Unsupported for tokenizers of other kinds.
  static std::shared_ptr<const BytePairTokenizer>
  readJson(const std::string &path);
  /// A file of tiktoken: a token in base64 and its rank a line. <|endoftext|>
  /// is the first number without a token. Throws as readJson.
  static std::shared_ptr<const BytePairTokenizer>
  readRanks(const std::string &path);
  ~BytePairTokenizer() override;

  const char *kind() const override { return "bpe"; }
  int32_t size() const override { return static_cast<int32_t>(texts.size()); }
  using Tokenizer::encode;
  void encode(std::string_view text,
              std::vector<int32_t> &tokens) const override;
  std::optional<int32_t> endOfText() const override { return special; }
  size_t cutAfter(std::string_view text, size_t from) const override;
  void save(const std::string &folder) const override;

  const std::vector<Merge> &merges() const { return merges_; }

private:
  struct Cache;
  struct Scratch;
  void encodeSegment(std::string_view text, Scratch &scratch,
                     std::vector<int32_t> &tokens) const;
  void mergeShort(const uint8_t *piece, size_t bytes, Scratch &scratch) const;
  void mergeLong(const uint8_t *piece, size_t bytes, Scratch &scratch) const;
  std::unique_ptr<Scratch> takeScratch() const;

  std::vector<std::string> vocabulary;
  std::vector<Merge> merges_;
  PairTable pairs;
  std::array<int32_t, 256> byteTokens;
  std::optional<int32_t> special; ///< <|endoftext|>
  std::vector<AddedToken> added;  ///< it and others, the longest first
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Scratch>> idle; ///< one a thread
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_BYTEPAIRTOKENIZER_H
