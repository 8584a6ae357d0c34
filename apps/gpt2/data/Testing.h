//===- Testing.h - What tests of data sets share ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_TESTING_H
#define NEREID_APPS_GPT2_DATA_TESTING_H

#include "apps/gpt2/data/Shard.h"

#include <vector>

namespace nereid::gpt2 {

using Tokens = std::vector<int32_t>;

/// All tokens of the shards, one after the other.
inline Tokens tokensOf(const std::vector<Shard> &shards) {
  Tokens tokens;
  for (const Shard &shard : shards) {
    size_t before = tokens.size();
    tokens.resize(before + shard.size());
    shard.read(0, shard.size(), tokens.data() + before);
  }
  return tokens;
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_TESTING_H
