//===- Dataset.h - A folder of tokens, as prepare writes it -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   meta.json           {"format": "nereid-gpt2 data", "version": 1,
//                        "tokenizer": "char" or "bpe", "vocab_size": 65,
//                        "tokenizer_hash": "...", "characters": ["\n", ...],
//                        "train": {"tokens": n, "shards":
//                        ["train-00000.tokens"]}, "val": the same}
//   vocab.json, merges.txt     of BPE
//   train-*.tokens, val-*.tokens     shards (Shard.h)
//
// meta.json is written last: a folder without it is not a data set, unless it
// has files of nanoGPT or llm.c (TokenFiles.h).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_DATASET_H
#define NEREID_APPS_GPT2_DATA_DATASET_H

#include "apps/gpt2/data/Shard.h"
#include "apps/gpt2/data/Tokenizer.h"

namespace nereid::gpt2 {

struct Dataset {
  std::string folder;
  TokenizerPtr tokenizer;
  std::vector<Shard> train, val;
};

/// The folder that `--dataset` means: a name without a slash is one of data/,
/// or else of the current folder.
std::string datasetFolder(const std::string &name);
/// Throws NotFound, or IoError for a folder that is damaged.
Dataset openDataset(const std::string &name);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_DATASET_H
