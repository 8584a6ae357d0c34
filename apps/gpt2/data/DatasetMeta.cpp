//===- DatasetMeta.cpp - meta.json of a data set --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/DatasetMeta.h"

#include "apps/gpt2/data/BytePairTokenizer.h"
#include "apps/gpt2/data/CharacterTokenizer.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Log.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace nereid::gpt2 {

using Json = nlohmann::ordered_json;

static constexpr const char *formatName = "nereid-gpt2 data";
static constexpr int formatVersion = 1;

[[noreturn]] static void refuse(const std::string &path,
                                const std::string &what) {
  raise({ErrorCode::IoError, path + ": " + what, {}});
}

static PartMeta partOf(const Json &json) {
  return {json.at("tokens").get<uint64_t>(),
          json.at("shards").get<std::vector<std::string>>()};
}

DatasetMeta readMeta(const std::string &folder) {
  std::string path = folder + "/meta.json";
  Expected<std::string> text = readFile(path);
  if (!text.ok() && text.failure().code == ErrorCode::NotFound) {
    std::error_code error;
    bool isFolder = std::filesystem::is_directory(folder, error);
    raise({ErrorCode::NotFound,
           folder + ": expected a folder of tokens, got " +
               (isFolder ? "one without meta.json" : "no such folder") +
               "; nereid-gpt2 prepare TEXT --dataset=" + folder + " makes it",
           {}});
  }
  try {
    Json json = Json::parse(valueOrThrow(std::move(text)));
    if (json.value("format", "") != formatName) {
      refuse(path, std::string("expected \"format\": \"") + formatName +
                       "\", got another file; nereid-gpt2 prepare writes such "
                       "ones");
    }
    if (json.at("version") != formatVersion) {
      refuse(path, "expected version 1, got version " +
                       json.at("version").dump() + "; prepare the data anew");
    }
    DatasetMeta meta;
    meta.tokenizer = json.at("tokenizer");
    meta.vocabulary = json.at("vocab_size");
    meta.hash = json.at("tokenizer_hash");
    meta.characters = json.value("characters", std::vector<std::string>());
    meta.train = partOf(json.at("train"));
    meta.val = partOf(json.at("val"));
    return meta;
  } catch (const nlohmann::json::exception &error) {
    refuse(path, "expected what nereid-gpt2 prepare writes, got " +
                     printable(error.what()));
  }
}

static Json jsonOf(const PartMeta &part) {
  return {{"tokens", part.tokens}, {"shards", part.shards}};
}

void writeMeta(const std::string &folder, const DatasetMeta &meta) {
  Json json;
  json["format"] = formatName;
  json["version"] = formatVersion;
  json["tokenizer"] = meta.tokenizer;
  json["vocab_size"] = meta.vocabulary;
  json["tokenizer_hash"] = meta.hash;
  if (!meta.characters.empty()) {
    json["characters"] = meta.characters;
  }
  json["train"] = jsonOf(meta.train);
  json["val"] = jsonOf(meta.val);
  throwIfFailed(
      writeFileAtomically(folder + "/meta.json", json.dump(2) + "\n"));
}

TokenizerPtr tokenizerOf(const DatasetMeta &meta, const std::string &folder) {
  TokenizerPtr tokenizer;
  std::string path = folder + "/meta.json";
  if (meta.tokenizer == "char") {
    try {
      tokenizer = std::make_shared<CharacterTokenizer>(meta.characters);
    } catch (const Error &error) {
      refuse(path, "characters: " + error.message());
    }
  } else if (meta.tokenizer == "bpe") {
    tokenizer =
        BytePairTokenizer::read(folder + "/vocab.json", folder + "/merges.txt");
  } else {
    refuse(path, "expected the tokenizer char or bpe, got '" +
                     printable(meta.tokenizer) + "'");
  }
  if (tokenizer->hash().hex() != meta.hash ||
      tokenizer->size() != meta.vocabulary) {
    refuse(path, "expected the tokenizer that the tokens were made with, got "
                 "another one: a file of the folder has been changed; prepare "
                 "the data anew");
  }
  return tokenizer;
}

} // namespace nereid::gpt2
