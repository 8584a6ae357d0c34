//===- Tokenizer.cpp - Text as tokens, and back ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Tokenizer.h"

#include "apps/gpt2/data/BytePairTokenizer.h"
#include "apps/gpt2/data/CharacterTokenizer.h"
#include "apps/gpt2/data/DatasetMeta.h"
#include "apps/gpt2/data/TokenFiles.h"
#include "apps/gpt2/data/Utf8.h"

#include "nereid/Runtime/Error.h"

#include <filesystem>

namespace nereid::gpt2 {

Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> tokens;
  encode(text, tokens);
  return tokens;
}

std::string_view Tokenizer::bytesOf(int32_t token) const {
  if (token < 0 || static_cast<size_t>(token) >= texts.size() ||
      texts[static_cast<size_t>(token)].empty()) {
    raise({ErrorCode::InvalidArgument,
           "expected a token of the vocabulary, 0 to " +
               std::to_string(size() - 1) + ", got " + std::to_string(token),
           {}});
  }
  return texts[static_cast<size_t>(token)];
}

std::string Tokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (int32_t token : tokens) {
    text += bytesOf(token);
  }
  return text;
}

std::string StreamDecoder::put(int32_t token) {
  pending += tokenizer->bytesOf(token);
  size_t whole = pending.size() - unfinishedBytes(pending);
  std::string text = wellFormed(std::string_view(pending).substr(0, whole));
  pending.erase(0, whole);
  return text;
}

std::string StreamDecoder::finish() {
  std::string text = wellFormed(pending);
  pending.clear();
  return text;
}

size_t Tokenizer::cutAfter(std::string_view text, size_t from) const {
  // Not inside of a character.
  while (from < text.size() && (text[from] & 0xC0) == 0x80) {
    ++from;
  }
  return from;
}

namespace fs = std::filesystem;

static bool isThere(const std::string &path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The one NAME.tiktoken of a folder; empty without one. Throws for several.
static std::string rankFileOf(const std::string &folder) {
  std::error_code error;
  std::string found;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder, error)) {
    std::string path = entry.path().string();
    if (path.ends_with(".tiktoken")) {
      if (!found.empty()) {
        raise({ErrorCode::IoError,
               folder + ": expected one tokenizer, got two files of tiktoken; "
                        "name one of them",
               {}});
      }
      found = path;
    }
  }
  return found;
}

namespace {
/// What lies in a folder.
enum class TokenizerFiles { None, Meta, Pairs, Json, OpenAI, Ranks, Pickle };
} // namespace

static TokenizerFiles filesOf(const std::string &folder) {
  auto has = [&](const char *name) { return isThere(folder + "/" + name); };
  return has("meta.json")                          ? TokenizerFiles::Meta
         : has("vocab.json") && has("merges.txt")  ? TokenizerFiles::Pairs
         : has("tokenizer.json")                   ? TokenizerFiles::Json
         : has("encoder.json") && has("vocab.bpe") ? TokenizerFiles::OpenAI
         : !rankFileOf(folder).empty()             ? TokenizerFiles::Ranks
         : has("meta.pkl")                         ? TokenizerFiles::Pickle
                                                   : TokenizerFiles::None;
}

bool hasTokenizer(const std::string &folder) {
  return filesOf(folder) != TokenizerFiles::None;
}

/// For people who give the name of a model where files are needed.
static std::string adviceFor(const std::string &path) {
  bool isName = path.starts_with("gpt2") || path == "r50k_base";
  return isName ? "; hint: GPT-2's tokenizer is vocab.json and merges.txt (or "
                  "tokenizer.json) of https://huggingface.co/openai-community/"
                  "gpt2, or encoder.json and vocab.bpe of "
                  "https://openaipublic.blob.core.windows.net/gpt-2/encodings/"
                  "main; put them into a folder and name that"
                : "";
}

TokenizerPtr openTokenizer(const std::string &path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    std::string name = fs::path(path).filename().string();
    if (name.ends_with(".json") && name != "meta.json") {
      return BytePairTokenizer::readJson(path);
    }
    return BytePairTokenizer::readRanks(path);
  }
  switch (filesOf(path)) {
  case TokenizerFiles::Meta:
    return tokenizerOf(readMeta(path), path);
  case TokenizerFiles::Pairs:
    return BytePairTokenizer::read(path + "/vocab.json", path + "/merges.txt");
  case TokenizerFiles::Json:
    return BytePairTokenizer::readJson(path + "/tokenizer.json");
  case TokenizerFiles::OpenAI:
    return BytePairTokenizer::read(path + "/encoder.json", path + "/vocab.bpe");
  case TokenizerFiles::Ranks:
    return BytePairTokenizer::readRanks(rankFileOf(path));
  case TokenizerFiles::Pickle:
    return readMetaPickle(path);
  case TokenizerFiles::None:
    break;
  }
  raise({ErrorCode::NotFound,
         path +
             ": expected a folder with a tokenizer, that is meta.json "
             "(nereid-gpt2 prepare writes it), vocab.json and merges.txt, "
             "tokenizer.json, encoder.json and vocab.bpe, a .tiktoken file "
             "or meta.pkl, got none of them" +
             adviceFor(path),
         {}});
}

} // namespace nereid::gpt2
