//===- Batches.h - The batches of a run -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_BATCHES_H
#define NEREID_APPS_GPT2_TRAIN_BATCHES_H

#include "apps/gpt2/Options.h"
#include "apps/gpt2/data/Dataset.h"
#include "apps/gpt2/data/Loader.h"

namespace nereid::gpt2 {

enum class Split { Train, Validation };

/// Of a data set: what steps are trained on, and what evaluations see, which is
/// the same in each.
class Batches {
public:
  /// Throws what opening the data set throws.
  explicit Batches(const Options &options);

  /// Micro-steps are numbered over all steps.
  Batch training(uint64_t microStep) { return train.batch(microStep); }
  Batch evaluation(Split split, uint64_t number) {
    return (split == Split::Train ? trainSeen : validation).batch(number);
  }
  /// Tokens that the data can have.
  int64_t vocabulary() const { return data.tokenizer->size(); }

private:
  Dataset data;
  Loader train, trainSeen, validation;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_BATCHES_H
