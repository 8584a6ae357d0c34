//===- Memory.h - What a step takes, and what would fit ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_MEMORY_H
#define NEREID_APPS_GPT2_TRAIN_MEMORY_H

#include "apps/gpt2/model/GptConfig.h"
#include "nereid/Runtime/Error.h"

namespace nereid::gpt2 {

/// Bytes of a training step, from the shape alone; within a quarter of what is
/// measured (test `Memory`).
struct StepMemory {
  /// Weights, gradients, both means, and master weights.
  int64_t parameters = 0;
  /// What the forward pass keeps for the backward pass, of one sequence.
  int64_t sequence = 0;

  double total(int64_t batch) const {
    return double(parameters) + double(batch) * double(sequence);
  }
  /// The largest batch in so many bytes; 0: not even one sequence.
  int64_t largestBatch(int64_t bytes) const;
};

/// `recomputes`: the model computes its blocks' activations again.
StepMemory stepMemory(const GptConfig &config, int64_t block, bool recomputes);

/// What tensors of this process can still take: of a GPU, or of the host within
/// the limits of the process and of its control group. Of a limit of addresses,
/// threads and the alignment of tensors have their part.
int64_t freeBytes(Device device);
/// Addresses that a thread reserves beside what it allocates: its stack, and
/// the C library's arena of 64 MiB.
constexpr int64_t addressesOfThread = (8 + 64) << 20;

/// A step that is to fit into what was free.
struct StepFit {
  GptConfig config;
  int64_t batch = 1, block = 1;
  bool recomputes = false;
  Device device = Device::cpu();
  int64_t available = 0; ///< bytes

  /// Of a step, and on the host of the copy that a checkpoint is written from.
  StepMemory memory(bool recomputes) const;

  /// "out of memory: a step of 64 sequences of 1024 tokens takes about 40.1 GB,
  /// and cpu has 24.0 GB free; --batch_size=37 would fit, ..."
  Failure failure() const;

  /// Throws `failure` where the step cannot fit. A host grants memory that it
  /// does not have, and kills the process later; a GPU refuses in time, so that
  /// of it only a single sequence is asked for.
  void check() const;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_MEMORY_H
