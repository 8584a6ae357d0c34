//===- Resume.h - A run's state, from and to checkpoints --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_RESUME_H
#define NEREID_APPS_GPT2_TRAIN_RESUME_H

#include "apps/gpt2/Options.h"
#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/model/Model.h"

#include <optional>

namespace nereid::gpt2 {

/// A model's parameters under their names; the tensors are the model's own.
std::vector<NamedTensor> weightsOf(const Model &model);

/// What `init_from` names, read before the model is made.
struct Start {
  std::optional<Checkpoint> checkpoint; ///< resume
  std::optional<ImportedModel> imported;
  std::string path; ///< for messages
};

Start startOf(const Options &options);
/// Places of the context that its weights have; of new ones any number.
int64_t contextOf(const Start &start);
/// The model's shape is that of what the run begins with: options of the model
/// are replaced by it, but dropout.
GptConfig configOf(Options &options, const Start &start, int64_t vocabulary,
                   Device device);
void setWeights(const Model &model, const Start &start);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_RESUME_H
