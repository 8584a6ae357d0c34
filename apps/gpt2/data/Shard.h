//===- Shard.h - Files of tokens --------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   offset 0     magic "NRDTOKEN", version u32 = 1, bits of a token u32 (16 or
//                32), tokens u64, size of the vocabulary u32, bytes of a block
//                u32, the tokenizer's hash (32 bytes), XXH64 of the table of
//                checksums u64, XXH64 of bytes 0 to 71 u64; zeros up to 4096
//   offset 4096  the tokens, little-endian; zeros up to a multiple of 8 bytes
//   then         the table: XXH64 (seed 0) of each block of 65536 bytes of
//                tokens, u64; the last block may be shorter
//
// The header, the table and the length are checked when a shard is opened; a
// block is checked when it is first read, so that a terabyte opens at once and
// no damaged token is ever used.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_SHARD_H
#define NEREID_APPS_GPT2_DATA_SHARD_H

#include "nereid/Support/Hash.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nereid::gpt2 {

/// Where the tokens of a file lie, little-endian.
struct BareTokens {
  uint64_t offset = 0, count = 0;
  uint32_t bits = 16; ///< 16 or 32
};

/// A file of tokens that is mapped into memory. A handle; copies share it, and
/// threads may, too.
class Shard {
public:
  /// Throws NotFound, or IoError for a file that is damaged, cut off or of
  /// another kind.
  static Shard open(const std::string &path);
  /// Another program's tokens: bare numbers from a place on, without checksums.
  /// That they are below `vocabulary` is checked as blocks are read.
  static Shard openBare(const std::string &path, const BareTokens &tokens,
                        int32_t vocabulary);

  const std::string &path() const;
  uint64_t size() const; ///< in tokens
  int32_t vocabulary() const;
  const Digest &tokenizerHash() const;
  /// A checksum of all tokens: that of the table of checksums; for bare tokens,
  /// that of their first and last mebibyte.
  uint64_t tokensChecksum() const;
  /// Copies `count` tokens from `first` on. Throws IoError for a block whose
  /// checksum is wrong, and when the file was cut off meanwhile.
  void read(uint64_t first, size_t count, int32_t *to) const;
  /// Checks every block.
  void verify() const;

private:
  struct Mapping;
  explicit Shard(std::shared_ptr<Mapping> mapping)
      : mapping(std::move(mapping)) {}
  std::shared_ptr<Mapping> mapping;
};

/// Writes a shard beside its place; `commit` renames it. What is not committed
/// is removed.
class ShardWriter {
public:
  ShardWriter(const std::string &path, int32_t vocabulary,
              const Digest &tokenizerHash);
  ShardWriter(ShardWriter &&) noexcept;
  ~ShardWriter();
  /// Throws IoError, as for a full disk.
  void append(std::span<const int32_t> tokens);
  uint64_t size() const; ///< in tokens
  /// Writes the header and flushes to the disk; the file is complete, under its
  /// temporary name.
  void finish();
  void commit();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_SHARD_H
