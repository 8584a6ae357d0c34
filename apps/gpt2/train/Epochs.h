//===- Epochs.h - Steps of --epochs -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_EPOCHS_H
#define NEREID_APPS_GPT2_TRAIN_EPOCHS_H

#include "apps/gpt2/train/Batches.h"
#include "apps/gpt2/train/Resume.h"

namespace nereid::gpt2 {

/// The key in TrainingState::schedule.
inline constexpr const char *followsEpochsKey = "follows_epochs";

/// Does the decay end with the last epoch? Where no option says when it ends.
bool followsEpochs(const Options &options, const Start &start);

/// With as many steps as --epochs says. Throws InvalidArgument for options that
/// do not go with them.
Options &timed(Options &options, const Batches &data, const Start &start);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_EPOCHS_H
