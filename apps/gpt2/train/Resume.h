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

/// Before anything is made: the options of a run as `given` asks for it. One
/// that goes on has those of its checkpoint, where no others are given; what
/// differs stands in `notes`, "batch_size was 8, is 12". Throws where the
/// model would be another one, and where a new run would write into a folder
/// that has checkpoints without --overwrite.
Options optionsOfRun(const Options &given, std::vector<std::string> &notes);

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
/// are replaced by it, but dropout. Throws where others were asked for.
GptConfig configOf(Options &options, const Start &start, int64_t vocabulary,
                   Device device);
void setWeights(const Model &model, const Start &start);

/// A checkpoint as one of a run whose weights have these types: weights in 16
/// bits have master weights in the optimiser, weights in fp32 are their own.
void convert(Checkpoint &checkpoint, std::span<const NamedTensor> weights);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_RESUME_H
