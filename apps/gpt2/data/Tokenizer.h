//===- Tokenizer.h - Text as tokens, and back -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of data or of a model says which tokenizer its tokens are of:
//
//   meta.json with "tokenizer": "char"     its characters stand in the file
//   vocab.json and merges.txt              byte-level BPE
//   encoder.json and vocab.bpe             the same, as OpenAI named them
//   tokenizer.json                         the same, of transformers 5
//   NAME.tiktoken                          the same, of tiktoken
//   meta.pkl                               characters, of nanoGPT
//
// encode and decode are inverse: decode(encode(text)) == text for every text
// that a tokenizer takes. BPE takes all bytes; characters must be UTF-8 and
// known.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_TOKENIZER_H
#define NEREID_APPS_GPT2_DATA_TOKENIZER_H

#include "nereid/Support/Hash.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::gpt2 {

/// What stands between two documents, one token of every BPE vocabulary.
inline constexpr std::string_view endOfTextText = "<|endoftext|>";

/// Immutable; threads may share one.
class Tokenizer {
public:
  virtual ~Tokenizer();

  /// "char" or "bpe".
  virtual const char *kind() const = 0;
  /// Tokens are 0 to size() - 1.
  virtual int32_t size() const = 0;
  /// Appends the tokens of `text`. Throws InvalidArgument for what the
  /// vocabulary cannot express.
  virtual void encode(std::string_view text,
                      std::vector<int32_t> &tokens) const = 0;
  std::vector<int32_t> encode(std::string_view text) const;
  /// The bytes of a token: for BPE possibly a part of a character. Throws
  /// InvalidArgument for no token of the vocabulary.
  std::string_view bytesOf(int32_t token) const;
  std::string decode(std::span<const int32_t> tokens) const;
  /// The token of <|endoftext|>; a vocabulary of characters has none.
  virtual std::optional<int32_t> endOfText() const = 0;

  /// A place from `from` on where a text may be cut: the tokens of both parts
  /// are those of the whole. Its end where there is none.
  virtual size_t cutAfter(std::string_view text, size_t from) const;

  /// A hash of the whole vocabulary: equal tokenizers have equal hashes. Shards
  /// carry it.
  const Digest &hash() const { return hash_; }
  /// Writes the tokenizer's files into a folder that exists: vocab.json and
  /// merges.txt, or nothing (characters stand in the meta.json of a data set).
  virtual void save(const std::string &folder) const = 0;
  /// For meta.json: an array of the characters; empty for BPE.
  virtual std::vector<std::string> characters() const { return {}; }

protected:
  /// The bytes of each token, in their order; nothing for a number that the
  /// vocabulary leaves out.
  std::vector<std::string> texts;
  Digest hash_;
};

using TokenizerPtr = std::shared_ptr<const Tokenizer>;

/// Does the folder have one of the files above?
bool hasTokenizer(const std::string &folder);
/// Opens such a folder, or the file tokenizer.json or NAME.tiktoken alone.
/// Throws NotFound or IoError with the file's name, Unsupported for tokenizers
/// of other kinds.
TokenizerPtr openTokenizer(const std::string &path);

/// Turns tokens that come one by one into text. Only whole characters come out;
/// bytes that cannot be a part of UTF-8 come out as U+FFFD.
class StreamDecoder {
public:
  explicit StreamDecoder(TokenizerPtr tokenizer)
      : tokenizer(std::move(tokenizer)) {}
  /// The text that is complete with this token; may be empty.
  std::string put(int32_t token);
  /// What is left at the end.
  std::string finish();

private:
  TokenizerPtr tokenizer;
  std::string pending; ///< the first bytes of a character, at most 3
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_TOKENIZER_H
