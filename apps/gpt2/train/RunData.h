//===- RunData.h - The data and tokenizer of a run --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint says which tokens it was trained on, and where they lay:
//   {"tokenizer_hash": "...", "tokens_hash": "...", "folder":
//   "/home/me/data/x",
//    "beside": "../data/x"}
// Its folder has the tokenizer, in tokenizer/, as `prepare` writes one.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_RUNDATA_H
#define NEREID_APPS_GPT2_TRAIN_RUNDATA_H

#include "apps/gpt2/data/Dataset.h"

#include <nlohmann/json.hpp>

namespace nereid::gpt2 {

/// `outDir`: the folder of checkpoints, which exists.
nlohmann::json dataRecord(const Dataset &data, const std::string &outDir);

/// The data set of a run whose checkpoints lie in `outDir` now: by its name
/// from the current folder, by its place beside the checkpoints, or by the
/// place that it had; the first of them that has the run's tokens, or else the
/// first that is there, or else the name. `options` and `record` are the run's;
/// null: "".
std::string findDataset(const nlohmann::json &options,
                        const nlohmann::json &record,
                        const std::string &outDir);

/// Throws IoError where the tokens are of another tokenizer than the record's.
/// `place`: where it comes from; `model`: what has the record.
void checkTokenizer(const nlohmann::json &record, const Tokenizer &tokenizer,
                    const std::string &place, const std::string &model);
/// Are they those of the record? True for records that do not say.
bool hasTokensOf(const nlohmann::json &record, const Dataset &data);

/// Writes the tokenizer into `outDir`.
void saveTokenizer(const Tokenizer &tokenizer, const std::string &outDir);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_RUNDATA_H
