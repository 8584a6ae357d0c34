//===- RunData.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/RunData.h"

#include "apps/gpt2/data/DatasetMeta.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Weights/AtomicFile.h"

#include <filesystem>

using namespace nereid;
using namespace nereid::gpt2;
namespace fs = std::filesystem;
using nlohmann::json;

static std::string textOf(const json &object, const char *key) {
  if (object.is_object() && object.contains(key) && object[key].is_string()) {
    return object[key];
  }
  return "";
}

static std::string tokensHash(const Dataset &data) {
  Hasher hasher;
  for (const std::vector<Shard> *part : {&data.train, &data.val}) {
    hasher.field(uint64_t(part->size()));
    for (const Shard &shard : *part) {
      hasher.field(shard.size()).field(shard.tokensChecksum());
    }
  }
  return hasher.finish().hex();
}

json gpt2::dataRecord(const Dataset &data, const std::string &outDir) {
  std::error_code error;
  fs::path folder = fs::canonical(data.folder, error);
  return {
      {"tokenizer_hash", data.tokenizer->hash().hex()},
      {"tokens_hash", tokensHash(data)},
      {"folder", folder.string()},
      {"beside",
       fs::proximate(folder, fs::canonical(outDir, error), error).string()}};
}

std::string gpt2::findDataset(const json &options, const json &record,
                              const std::string &outDir) {
  std::string name = textOf(options, "dataset"), first;
  std::vector<std::string> places;
  if (!name.empty()) {
    places.push_back(name);
  }
  if (std::string beside = textOf(record, "beside"); !beside.empty()) {
    places.push_back((fs::path(outDir) / beside).lexically_normal().string());
  }
  if (std::string folder = textOf(record, "folder"); !folder.empty()) {
    places.push_back(folder);
  }
  for (const std::string &place : places) {
    std::error_code error;
    if (!fs::is_directory(datasetFolder(place), error)) {
      continue;
    }
    first = first.empty() ? place : first;
    try {
      if (hasTokensOf(record, openDataset(place))) {
        return place;
      }
    } catch (const Error &) {
      // What is wrong with it is said when it is the only one.
    }
  }
  return first.empty() ? name : first;
}

void gpt2::checkTokenizer(const json &record, const Tokenizer &tokenizer,
                          const std::string &place, const std::string &model) {
  std::string hash = textOf(record, "tokenizer_hash");
  if (!hash.empty() && hash != tokenizer.hash().hex()) {
    raise({ErrorCode::IoError,
           place + ": expected the tokenizer that " + model +
               " was trained with, got another one, whose tokens mean "
               "something else; nereid-gpt2 prepare TEXT --tokenizer=" +
               model + "/tokenizer makes tokens of the same one",
           {}});
  }
}

bool gpt2::hasTokensOf(const json &record, const Dataset &data) {
  std::string hash = textOf(record, "tokens_hash");
  return hash.empty() || hash == tokensHash(data);
}

void gpt2::saveTokenizer(const Tokenizer &tokenizer,
                         const std::string &outDir) {
  fs::path folder = outDir + "/tokenizer", staging = outDir + "/.tokenizer.new";
  std::error_code error;
  fs::remove_all(staging, error); // of a process that was killed
  makeFolder(staging);
  // Other data says how many tokens there are, and not which.
  if (std::string_view(tokenizer.kind()) != "unknown") {
    makeFolder(folder);
    tokenizer.save(staging);
    writeMeta(staging, {tokenizer.kind(),
                        tokenizer.size(),
                        tokenizer.hash().hex(),
                        tokenizer.characters(),
                        {},
                        {}});
  }
  // All that a tokenizer may have; another one's files would be read with it.
  for (const char *name :
       {"vocab.json", "merges.txt", "added_tokens.json", "meta.json"}) {
    error.clear();
    if (fs::exists(staging / name)) {
      fs::rename(staging / name, folder / name, error);
    } else if (fs::exists(folder / name, error)) {
      fs::remove(folder / name, error);
    }
    if (error) {
      raise(
          {ErrorCode::IoError,
           "cannot write " + (folder / name).string() + ": " + error.message(),
           {}});
    }
  }
  fs::remove_all(staging, error);
  if (fs::is_empty(folder, error) && !error) {
    fs::remove(folder, error);
  }
}
