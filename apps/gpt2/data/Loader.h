//===- Loader.h - Batches of a data set -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows begin at random positions, as nanoGPT's do. Position i of step s is made
// from Philox4x32-10 with the seed as key and (i, s) as counter: a batch
// depends on the seed and the step alone, never on how many shards or processes
// there are, nor on the batches that were read before. Shards count as one long
// text, so that a row may cross from one into the next.
//
// A thread reads the batch of the next step while that of this one is in use.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_LOADER_H
#define NEREID_APPS_GPT2_DATA_LOADER_H

#include "apps/gpt2/data/Shard.h"

#include "nereid/Runtime/Tensor.h"

#include <memory>
#include <vector>

namespace nereid::gpt2 {

/// Both i32 [rows, block] on the host. The targets are the inputs one token
/// later.
struct Batch {
  Tensor inputs, targets;
};

class Loader {
public:
  /// `batch`: rows of the batch of all processes together. Throws
  /// InvalidArgument when the shards have fewer than block + 1 tokens.
  Loader(std::vector<Shard> shards, int64_t batch, int64_t block,
         uint64_t seed);
  Loader(Loader &&) noexcept;
  ~Loader();

  /// Rows rank * batch / ranks and following of the batch of a step; batch must
  /// be a multiple of ranks. With micro-batches, `step` counts these. The batch
  /// of step + stride is read ahead. Throws IoError for damaged data. The
  /// tensors are the caller's: a later call does not change them. One thread at
  /// a time.
  Batch batch(uint64_t step, int rank = 0, int ranks = 1, uint64_t stride = 1);
  uint64_t tokens() const; ///< of all shards

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_LOADER_H
