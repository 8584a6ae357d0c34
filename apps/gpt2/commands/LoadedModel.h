//===- LoadedModel.h - A trained model for a command ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_COMMANDS_LOADEDMODEL_H
#define NEREID_APPS_GPT2_COMMANDS_LOADEDMODEL_H

#include "apps/gpt2/Options.h"
#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/data/Tokenizer.h"
#include "apps/gpt2/model/Model.h"

namespace nereid::gpt2 {

struct LoadedModel {
  Model model;
  std::string path;
  nlohmann::json options; ///< of the run that made it, or null
  nlohmann::json data;    ///< what that run was trained on (RunData.h), or null
};

/// What --init_from, --out_dir, --checkpoint, --device and --dtype say: a run's
/// checkpoint, or the weights of a file or folder. Throws Error, also where a
/// weight is not a number.
LoadedModel loadModel(const Options &options);

/// Says on standard error which checkpoint of a folder was taken.
void noteChoice(const std::string &path, const ImportedModel &model);

/// The data set that the model was trained on; empty where it does not say.
std::string datasetOf(const nlohmann::json &options);

/// The folder with the tokenizer's files: the model's own, beside its weights
/// or in tokenizer/ there, or that of the data which it was trained on; empty
/// where there is none.
std::string tokenizerFolder(const std::string &modelPath,
                            const nlohmann::json &options);

/// The one of that folder, or of the data set that --dataset named. Throws
/// Error where there is none, or one that is not the model's.
TokenizerPtr tokenizerOf(const LoadedModel &loaded, const std::string &named);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_COMMANDS_LOADEDMODEL_H
