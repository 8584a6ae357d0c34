//===- DatasetMeta.h - meta.json of a data set ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dataset.h shows one.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_DATASETMETA_H
#define NEREID_APPS_GPT2_DATA_DATASETMETA_H

#include "apps/gpt2/data/Tokenizer.h"

namespace nereid::gpt2 {

/// One half of a data set.
struct PartMeta {
  uint64_t tokens = 0;
  std::vector<std::string> shards; ///< names in the folder
};

struct DatasetMeta {
  std::string tokenizer; ///< "char" or "bpe"
  int64_t vocabulary = 0;
  std::string hash; ///< of the tokenizer, hexadecimal
  std::vector<std::string> characters;
  PartMeta train, val;
};

/// Throws NotFound without one, IoError for one that is damaged.
DatasetMeta readMeta(const std::string &folder);
void writeMeta(const std::string &folder, const DatasetMeta &meta);
/// Throws IoError when the folder has a meta.json of another program.
void checkMetaIsOurs(const std::string &folder);
/// Throws IoError when the folder has another tokenizer than its meta.json
/// says.
TokenizerPtr tokenizerOf(const DatasetMeta &meta, const std::string &folder);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_DATASETMETA_H
