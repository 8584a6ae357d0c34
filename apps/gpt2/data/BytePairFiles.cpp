//===- BytePairFiles.cpp - vocab.json and merges.txt ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As openai/gpt-2 published them and Hugging Face's tokenizers reads and writes
// them: {"token": number, ...}, and a pair of tokens a line, in the order of
// their ranks, after a line "#version: 0.2".
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/ByteAlphabet.h"
#include "apps/gpt2/data/BytePairTokenizer.h"
#include "apps/gpt2/data/JsonFile.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/FileNames.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Log.h"

#include <filesystem>
#include <unordered_map>

namespace nereid::gpt2 {

using Numbers = std::unordered_map<std::string, int32_t>;

static constexpr auto mostTokens = static_cast<int64_t>(mostBytePairTokens);

[[noreturn]] static void refuse(const std::string &path,
                                const std::string &what) {
  raise({ErrorCode::IoError, path + ": " + what, {}});
}

/// Does it look like a file of tiktoken, "IQ== 0" in its first line?
static bool looksLikeRanks(const std::string &text) {
  size_t end = std::min(text.find('\n'), text.size());
  size_t space = text.find(' ');
  return space != std::string::npos && space < end && text[0] != '#' &&
         text.find_first_not_of("0123456789\r", space + 1) >= end &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                                "uvwxyz0123456789+/=") == space;
}

static Numbers readVocabulary(const std::string &path) {
  if (Expected<std::string> text = readFile(path);
      text.ok() && looksLikeRanks(*text)) {
    refuse(path,
           "expected vocab.json, got a file of tiktoken, which is a whole "
           "tokenizer: give it as --tokenizer=" +
               path);
  }
  JsonFile file(path);
  const JsonFile::Json &json = file.value();
  if (!json.is_object() || json.empty()) {
    file.refuse(
        {}, "expected an object of tokens and their numbers, got " +
                std::string(json.empty() ? "nothing in it" : json.type_name()));
  }
  Numbers numbers;
  std::unordered_map<int64_t, std::string> known;
  for (const auto &[text, value] :
       json.get_ref<const JsonFile::Json::object_t &>()) {
    int64_t number = file.integer({text}, 0, numbersFor(json.size()) - 1);
    if (text.empty()) {
      file.refuse({text},
                  "expected tokens with at least one character, got \"\"");
    }
    auto [other, isNew] = known.emplace(number, text);
    if (!isNew) {
      file.refuse({text}, "expected a number for each token, got " +
                              std::to_string(number) + " for '" +
                              printable(other->second) + "' and for '" +
                              printable(text) + "'");
    }
    numbers.emplace(text, static_cast<int32_t>(number));
  }
  return numbers;
}

/// The lines without their ends.
template <typename F>
static void eachLine(std::string_view text, F use) {
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    use(number, line);
  }
}

static std::vector<Merge> readMerges(const std::string &path,
                                     const std::string &vocabPath,
                                     const Numbers &numbers) {
  std::string text = valueOrThrow(readFile(path));
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.erase(0, 3); // a byte order mark
  }
  std::vector<Merge> merges;
  eachLine(text, [&](size_t number, std::string_view line) {
    if (line.empty() || line.starts_with("#version")) {
      return;
    }
    std::string place = path + ":" + std::to_string(number) + ": error: ";
    size_t space = line.find(' ');
    if (space == std::string_view::npos ||
        line.find(' ', space + 1) != std::string_view::npos) {
      raise({ErrorCode::IoError,
             place + "expected two tokens with a space between them, got '" +
                 printable(line.substr(0, 80)) + "'",
             {}});
    }
    auto tokenOf = [&](std::string token) {
      auto found = numbers.find(token);
      if (found == numbers.end()) {
        raise({ErrorCode::IoError,
               place + "expected a token of " + vocabPath + ", got '" +
                   printable(token) + "'",
               {}});
      }
      return found->second;
    };
    std::string left(line.substr(0, space)), right(line.substr(space + 1));
    merges.push_back({tokenOf(left), tokenOf(right), tokenOf(left + right)});
  });
  return merges;
}

/// Of added_tokens.json, {"[PAD]": 50257}, which transformers wrote beside
/// vocab.json for tokens that are not in it.
static std::vector<AddedToken> readAdded(const std::string &path) {
  std::error_code error;
  std::vector<AddedToken> added;
  if (!std::filesystem::exists(path, error)) {
    return added;
  }
  JsonFile file(path);
  if (!file.value().is_object()) {
    file.expected({}, "an object of added tokens and their numbers",
                  file.value());
  }
  for (const auto &[text, value] : file.value().items()) {
    added.push_back(
        {text, static_cast<int32_t>(file.integer({text}, 0, mostTokens - 1))});
  }
  return added;
}

std::shared_ptr<const BytePairTokenizer>
BytePairTokenizer::read(const std::string &vocabJson,
                        const std::string &mergesText) {
  Numbers numbers = readVocabulary(vocabJson);
  std::vector<Merge> merges = readMerges(mergesText, vocabJson, numbers);
  std::vector<std::string> vocabulary;
  for (const auto &[text, number] : numbers) {
    if (static_cast<size_t>(number) >= vocabulary.size()) {
      vocabulary.resize(static_cast<size_t>(number) + 1);
    }
    vocabulary[static_cast<size_t>(number)] = text;
  }
  try {
    return std::make_shared<BytePairTokenizer>(
        std::move(vocabulary), std::move(merges),
        readAdded(folderOf(vocabJson) + "/added_tokens.json"));
  } catch (const Error &error) {
    refuse(vocabJson, error.message());
  }
}

void BytePairTokenizer::save(const std::string &folder) const {
  std::string json = "{", text = "#version: 0.2\n";
  nlohmann::json others = nlohmann::json::object();
  for (const AddedToken &one : added) {
    if (one.text != endOfTextText) {
      others[one.text] = one.token;
    }
  }
  for (size_t token = 0; token < vocabulary.size(); ++token) {
    if (!vocabulary[token].empty() && !others.contains(vocabulary[token])) {
      json += json.size() > 1 ? ", " : "";
      json += nlohmann::json(vocabulary[token]).dump() + ": " +
              std::to_string(token);
    }
  }
  json += "}\n";
  for (const Merge &merge : merges_) {
    text += vocabulary[static_cast<size_t>(merge.left)] + " " +
            vocabulary[static_cast<size_t>(merge.right)] + "\n";
  }
  throwIfFailed(writeFileAtomically(folder + "/vocab.json", json));
  throwIfFailed(writeFileAtomically(folder + "/merges.txt", text));
  if (!others.empty()) {
    throwIfFailed(writeFileAtomically(folder + "/added_tokens.json",
                                      others.dump() + "\n"));
  }
}

} // namespace nereid::gpt2
