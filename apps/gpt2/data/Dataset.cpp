//===- Dataset.cpp - A folder of tokens, as prepare writes it -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Dataset.h"

#include "apps/gpt2/data/DatasetMeta.h"
#include "apps/gpt2/data/TokenFiles.h"

#include "nereid/Runtime/Error.h"

#include <filesystem>

namespace nereid::gpt2 {

std::string datasetFolder(const std::string &name) {
  namespace fs = std::filesystem;
  std::error_code error;
  bool isPath =
      name.find('/') != std::string::npos || name == "." || name == "..";
  if (!isPath &&
      (fs::exists("data/" + name, error) ||
       (!fs::exists(name + "/meta.json", error) && !hasTokenFiles(name)))) {
    return "data/" + name;
  }
  return name;
}

static std::vector<Shard> openPart(const std::string &folder,
                                   const PartMeta &part,
                                   const Tokenizer &tokenizer) {
  std::vector<Shard> shards;
  uint64_t tokens = 0;
  for (const std::string &name : part.shards) {
    Shard shard = Shard::open(folder + "/" + name);
    if (shard.tokenizerHash() != tokenizer.hash() ||
        shard.vocabulary() != tokenizer.size()) {
      raise({ErrorCode::IoError,
             shard.path() + ": expected tokens of the tokenizer of " + folder +
                 ", got tokens of another one; prepare the data anew",
             {}});
    }
    tokens += shard.size();
    shards.push_back(std::move(shard));
  }
  if (tokens != part.tokens) {
    raise({ErrorCode::IoError,
           folder + ": expected shards of " + std::to_string(part.tokens) +
               " tokens, as meta.json says, got " + std::to_string(tokens) +
               "; prepare the data anew",
           {}});
  }
  return shards;
}

Dataset openDataset(const std::string &name) {
  std::string folder = datasetFolder(name);
  std::error_code error;
  if (!std::filesystem::exists(folder + "/meta.json", error) &&
      hasTokenFiles(folder)) {
    return openTokenFiles(folder);
  }
  DatasetMeta meta = readMeta(folder);
  TokenizerPtr tokenizer = tokenizerOf(meta, folder);
  return {folder, tokenizer, openPart(folder, meta.train, *tokenizer),
          openPart(folder, meta.val, *tokenizer)};
}

} // namespace nereid::gpt2
