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
#include "apps/gpt2/distributed/BatchSlice.h"

namespace nereid::gpt2 {

enum class Split { Train, Validation };

/// The batches of a data set: those that steps are trained on, and those that
/// evaluations see, the same in each.
class Batches {
public:
  /// Throws what opening the data set throws.
  Batches(const Options &options, const BatchSlice &slice);
  /// One process's.
  explicit Batches(const Options &options)
      : Batches(options, sliceOf(options, 0, 1)) {}

  /// Micro-steps are numbered over all steps, and over all processes.
  Batch training(uint64_t microStep) { return read(train, microStep); }
  Batch evaluation(Split split, uint64_t number) {
    return read(split == Split::Train ? trainSeen : validation, number);
  }
  /// Tokens that the data can have.
  int64_t vocabulary() const { return data.tokenizer->size(); }
  const Dataset &dataset() const { return data; }

private:
  Batch read(Loader &from, uint64_t number) const {
    return slice.splitsRows ? from.batch(number, slice.rank, slice.size)
                            : from.batch(number, 0, 1, uint64_t(slice.size));
  }

  BatchSlice slice;
  Dataset data;
  Loader train, trainSeen, validation;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_BATCHES_H
