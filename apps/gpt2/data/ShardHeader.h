//===- ShardHeader.h - The first bytes of a shard ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As Shard.h describes them; little-endian as the processors Nereid runs on.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_SHARDHEADER_H
#define NEREID_APPS_GPT2_DATA_SHARDHEADER_H

#include <cstdint>

namespace nereid::gpt2 {

struct ShardHeader {
  char magic[8] = {'N', 'R', 'D', 'T', 'O', 'K', 'E', 'N'};
  uint32_t version = 1;
  uint32_t bits = 16; ///< of a token
  uint64_t tokens = 0;
  uint32_t vocabulary = 0;
  uint32_t blockBytes = 65536;
  uint8_t tokenizer[32] = {};
  uint64_t tableChecksum = 0;
  uint64_t headerChecksum = 0; ///< of the bytes before

  uint64_t tokenBytes() const { return tokens * (bits / 8); }
  uint64_t blocks() const {
    return (tokenBytes() + blockBytes - 1) / blockBytes;
  }
  uint64_t tableOffset() const {
    return dataOffset + (tokenBytes() + 7) / 8 * 8;
  }
  uint64_t fileBytes() const { return tableOffset() + 8 * blocks(); }

  static constexpr uint64_t dataOffset = 4096;
  static constexpr uint64_t checkedBytes = 72;
};
static_assert(sizeof(ShardHeader) == 80);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_SHARDHEADER_H
