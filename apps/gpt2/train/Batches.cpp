//===- Batches.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Batches.h"

#include "nereid/Runtime/Error.h"

using namespace nereid;
using namespace nereid::gpt2;

static Loader loaderOf(const std::vector<Shard> &shards, const Options &o,
                       uint64_t role) {
  // The seed's high half is free: options have no larger ones.
  return Loader(shards, o.batchSize, o.blockSize,
                uint64_t(o.seed) ^ role << 60);
}

/// Data may have been prepared without any.
static const std::vector<Shard> &validationOf(const Dataset &data) {
  uint64_t tokens = 0;
  for (const Shard &shard : data.val) {
    tokens += shard.size();
  }
  if (tokens == 0) {
    raise({ErrorCode::InvalidArgument,
           data.folder +
               ": expected tokens to validate with, got none; prepare "
               "the data with a --val-fraction above 0",
           {}});
  }
  return data.val;
}

Batches::Batches(const Options &o, const BatchSlice &slice)
    : slice(slice), data(openDataset(o.dataset)),
      train(loaderOf(data.train, o, 0)), trainSeen(loaderOf(data.train, o, 1)),
      validation(loaderOf(validationOf(data), o, 2)) {}
