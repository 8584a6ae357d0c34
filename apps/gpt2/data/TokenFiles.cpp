//===- TokenFiles.cpp - Tokens that nanoGPT and llm.c wrote ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/TokenFiles.h"

#include "apps/gpt2/data/CharacterTokenizer.h"
#include "apps/gpt2/data/Pickle.h"
#include "apps/gpt2/data/UnknownTokenizer.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace nereid::gpt2 {

namespace fs = std::filesystem;

static constexpr int32_t gpt2Tokens = 50257, llama3Tokens = 128256;
static constexpr uint64_t headerWords = 256;

[[noreturn]] static void refuse(const std::string &path,
                                const std::string &what,
                                ErrorCode code = ErrorCode::IoError) {
  raise({code, path + ": " + what, {}});
}

namespace {
struct Parts {
  std::vector<std::string> train, val; ///< names in their order
};
} // namespace

/// nanoGPT's two where one of them is there, else llm.c's.
static Parts partsOf(const std::string &folder) {
  Parts parts;
  std::error_code error;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(".bin")) {
      continue;
    }
    if (name.find("train") != std::string::npos) {
      parts.train.push_back(name);
    } else if (name.find("val") != std::string::npos) {
      parts.val.push_back(name);
    }
  }
  for (auto [part, name] :
       {std::pair(&parts.train, "train.bin"), {&parts.val, "val.bin"}}) {
    std::sort(part->begin(), part->end());
    if (std::count(part->begin(), part->end(), name)) {
      *part = {name};
    }
  }
  return parts;
}

bool hasTokenFiles(const std::string &folder) {
  Parts parts = partsOf(folder);
  return !parts.train.empty() || !parts.val.empty();
}

namespace {
/// What a file's first bytes say.
struct Layout {
  BareTokens tokens;
  int32_t vocabulary = gpt2Tokens; ///< without a tokenizer
};
} // namespace

static Layout layoutOf(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    // To open a pipe would wait for somebody who writes to it.
    refuse(path, std::string("expected a file of tokens, got ") +
                     (fs::is_directory(path, error) ? "a folder"
                      : fs::exists(path, error)     ? "a device or pipe"
                                                    : "a name of no file"));
  }
  uint64_t bytes = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  int32_t words[3] = {};
  file.read(reinterpret_cast<char *>(words), sizeof(words));
  bool isWhole = file.gcount() == sizeof(words);
  Layout layout;
  if (isWhole && (words[0] == 20240520 || words[0] == 20240801)) {
    bool isLlama = words[0] == 20240801;
    if (words[1] != (isLlama ? 7 : 1) || words[2] < 0) {
      refuse(path, "expected llm.c's tokens of version " +
                       std::string(isLlama ? "7" : "1") + ", got version " +
                       std::to_string(words[1]));
    }
    layout.tokens = {headerWords * 4, static_cast<uint64_t>(words[2]),
                     isLlama ? 32u : 16u};
    layout.vocabulary = isLlama ? llama3Tokens : gpt2Tokens;
    return layout;
  }
  if (isWhole && words[0] == 20240522) {
    refuse(path,
           "expected tokens to train on, got llm.c's file of multiple "
           "choice questions",
           ErrorCode::Unsupported);
  }
  std::string name = fs::path(path).filename().string();
  if (name != "train.bin" && name != "val.bin") {
    refuse(path, "expected tokens of llm.c, whose first number is 20240520 or "
                 "20240801, got another file; nanoGPT's bare tokens are "
                 "train.bin and val.bin");
  }
  if (bytes % 2 != 0) {
    refuse(path, "expected tokens of 2 bytes, as nanoGPT writes them, got " +
                     std::to_string(bytes) + " bytes");
  }
  layout.tokens = {0, bytes / 2, 16};
  return layout;
}

TokenizerPtr readMetaPickle(const std::string &folder) {
  using Kind = PickleValue::Kind;
  std::string path = folder + "/meta.pkl";
  std::string content = valueOrThrow(readFile(path));
  Pickle pickle(content, path);
  const PickleValue *size = pickle.value().find("vocab_size"),
                    *texts = pickle.value().find("itos");
  if (!size || !size->is(Kind::Integer) || size->integer < 1 ||
      size->integer > 1 << 24) {
    refuse(path, "expected a dictionary with 'vocab_size', a number from 1 on, "
                 "as nanoGPT writes it, got " +
                     (size ? describe(*size) : "none"));
  }
  auto count = static_cast<size_t>(size->integer);
  // 'vocab_size' may be any number in a file of some bytes.
  bool isTexts =
      texts && texts->is(Kind::Dict) && texts->items.size() / 2 >= count;
  std::vector<std::string> characters(isTexts ? count : 0);
  for (size_t i = 0; isTexts && i + 1 < texts->items.size(); i += 2) {
    const PickleValue &number = *texts->items[i], &text = *texts->items[i + 1];
    isTexts = number.is(Kind::Integer) && text.is(Kind::Text) &&
              number.integer >= 0 && number.integer < size->integer;
    if (isTexts) {
      characters[static_cast<size_t>(number.integer)] = text.text;
    }
  }
  if (isTexts) {
    try {
      return std::make_shared<CharacterTokenizer>(std::move(characters));
    } catch (const Error &) {
      // Tokens of another kind: their number is enough to train on.
    }
  }
  return std::make_shared<UnknownTokenizer>(static_cast<int32_t>(count),
                                            folder);
}

Dataset openTokenFiles(const std::string &folder) {
  Parts parts = partsOf(folder);
  if (parts.train.empty() || parts.val.empty()) {
    std::string one = parts.train.empty() ? "train" : "val";
    refuse(folder,
           "expected tokens to train on and tokens to validate with "
           "(train.bin and val.bin, or llm.c's NAME_train*.bin and "
           "NAME_val*.bin), got none of " +
               one,
           ErrorCode::NotFound);
  }
  std::vector<Layout> train, val;
  int32_t vocabulary = 0;
  for (auto [names, layouts] :
       {std::pair(&parts.train, &train), {&parts.val, &val}}) {
    for (const std::string &name : *names) {
      layouts->push_back(layoutOf(folder + "/" + name));
      vocabulary = std::max(vocabulary, layouts->back().vocabulary);
    }
  }
  TokenizerPtr tokenizer =
      hasTokenizer(folder)
          ? openTokenizer(folder)
          : std::make_shared<UnknownTokenizer>(vocabulary, folder);
  Dataset data{folder, tokenizer, {}, {}};
  for (size_t i = 0; i < train.size(); ++i) {
    data.train.push_back(Shard::openBare(folder + "/" + parts.train[i],
                                         train[i].tokens, tokenizer->size()));
  }
  for (size_t i = 0; i < val.size(); ++i) {
    data.val.push_back(Shard::openBare(folder + "/" + parts.val[i],
                                       val[i].tokens, tokenizer->size()));
  }
  return data;
}

} // namespace nereid::gpt2
