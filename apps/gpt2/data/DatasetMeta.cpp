//===- DatasetMeta.cpp - meta.json of a data set --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/DatasetMeta.h"

#include "apps/gpt2/data/BytePairTokenizer.h"
#include "apps/gpt2/data/CharacterTokenizer.h"
#include "apps/gpt2/data/JsonFile.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <filesystem>

namespace nereid::gpt2 {

using Json = nlohmann::ordered_json;

static constexpr const char *formatName = "nereid-gpt2 data";
static constexpr int formatVersion = 1;

[[noreturn]] static void refuse(const std::string &path,
                                const std::string &what) {
  raise({ErrorCode::IoError, path + ": " + what, {}});
}

static PartMeta partOf(const JsonFile &file, const std::string &part) {
  return {static_cast<uint64_t>(
              file.integer({part, "tokens"}, 0, int64_t{1} << 53)),
          file.texts({part, "shards"})};
}

DatasetMeta readMeta(const std::string &folder) {
  std::string path = folder + "/meta.json";
  std::error_code error;
  if (std::filesystem::is_regular_file(folder, error)) {
    raise({ErrorCode::NotFound,
           folder +
               ": expected a folder of tokens, got a file; nereid-gpt2 "
               "prepare " +
               folder + " --dataset=NAME makes the folder of NAME",
           {}});
  }
  if (!std::filesystem::exists(path, error)) {
    bool isFolder = std::filesystem::is_directory(folder, error);
    raise({ErrorCode::NotFound,
           folder + ": expected a folder of tokens, got " +
               (isFolder ? "one without meta.json" : "no such folder") +
               "; nereid-gpt2 prepare TEXT --dataset=" + folder + " makes it",
           {}});
  }
  JsonFile file(path);
  if (!file.value().is_object() ||
      file.value().value("format", JsonFile::Json()) != formatName) {
    refuse(path, std::string("expected \"format\": \"") + formatName +
                     "\", got another file; nereid-gpt2 prepare writes such "
                     "ones");
  }
  if (file.at({"version"}) != formatVersion) {
    file.expected({"version"}, "1, or the data prepared anew",
                  file.at({"version"}));
  }
  DatasetMeta meta;
  meta.tokenizer = file.text({"tokenizer"});
  if (meta.tokenizer != "char" && meta.tokenizer != "bpe") {
    file.expected({"tokenizer"}, "\"char\" or \"bpe\"", file.at({"tokenizer"}));
  }
  meta.vocabulary = file.integer({"vocab_size"}, 1, INT32_MAX);
  meta.hash = file.text({"tokenizer_hash"});
  if (meta.tokenizer == "char") {
    meta.characters = file.texts({"characters"});
  }
  meta.train = partOf(file, "train");
  meta.val = partOf(file, "val");
  return meta;
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

void checkMetaIsOurs(const std::string &folder) {
  std::string path = folder + "/meta.json";
  Expected<std::string> text = readFile(path);
  if (!text.ok() && text.failure().code == ErrorCode::NotFound) {
    return;
  }
  // One of ours that was cut off or damaged may be replaced.
  std::string content = valueOrThrow(std::move(text));
  if (!content.empty() && content.find(formatName) == std::string::npos) {
    refuse(path, "expected none, or one of an earlier data set, got another "
                 "program's; take another --dataset");
  }
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
  } else {
    tokenizer =
        BytePairTokenizer::read(folder + "/vocab.json", folder + "/merges.txt");
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
