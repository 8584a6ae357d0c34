//===- TokenizerJson.cpp - tokenizer.json of transformers 5 ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   {"added_tokens": [{"id": 50256, "content": "<|endoftext|>", ...}],
//    "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", ...},
//    "model": {"type": "BPE", "vocab": {"!": 0, ...},
//              "merges": ["a b", ...] or [["a", "b"], ...]}}
//
// What such a file can say is much more than GPT-2's tokenizer is. Each part
// that would change a token is looked at; what is not GPT-2's is refused by its
// name.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/BytePairTokenizer.h"
#include "apps/gpt2/data/JsonFile.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Log.h"

#include <unordered_map>

namespace nereid::gpt2 {

using Json = JsonFile::Json;

namespace {
class Reader {
public:
  explicit Reader(const std::string &path) : path(path), file(path) {}

  std::shared_ptr<const BytePairTokenizer> read() {
    if (!file.value().is_object() || !file.value().contains("model")) {
      file.refuse({}, "expected a tokenizer.json, an object with \"model\", "
                      "got another file; vocab.json goes with merges.txt: "
                      "--vocab and --merges");
    }
    checkKind();
    checkPieces();
    readVocabulary();
    readMerges();
    try {
      return std::make_shared<BytePairTokenizer>(
          std::move(vocabulary), std::move(merges), addedTokens());
    } catch (const Error &error) {
      raise({ErrorCode::IoError, path + ": " + error.message(), {}});
    }
  }

private:
  [[noreturn]] void unsupported(const std::string &expected,
                                const std::string &got) const {
    raise({ErrorCode::Unsupported,
           path + ": expected a tokenizer of GPT-2's kind, that is " +
               expected + ", got " + got,
           {}});
  }
  static std::string typeOf(const Json &part) {
    auto type = part.is_object() ? part.find("type") : part.end();
    return part.is_object() && type != part.end() && type->is_string()
               ? printable(type->get<std::string>())
               : "something without a type";
  }
  /// A part whose absence, null, false, "" and [] mean the same.
  static bool isNothing(const Json &of, const char *key) {
    auto value = of.find(key);
    return value == of.end() || value->is_null() || *value == false ||
           *value == "" || (value->is_array() && value->empty());
  }

  void checkKind() const {
    const Json &model = file.at({"model"});
    std::string type = typeOf(model);
    // Files before the type was written have it without.
    bool isPairs =
        type == "BPE" || (model.is_object() && !model.contains("type") &&
                          model.contains("merges"));
    if (!isPairs) {
      unsupported("byte pairs (\"BPE\")", type);
    }
    for (const char *key :
         {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
          "byte_fallback", "ignore_merges"}) {
      if (!isNothing(model, key)) {
        unsupported(std::string("byte pairs without \"") + key + "\"",
                    shortText(model[key]));
      }
    }
  }

  void checkPieces() const {
    const Json &all = file.value();
    if (!isNothing(all, "normalizer")) {
      unsupported("one that leaves the text as it is",
                  "the normalizer " + typeOf(all["normalizer"]));
    }
    if (isNothing(all, "pre_tokenizer")) {
      unsupported("pieces of \"ByteLevel\"", "no pre_tokenizer");
    }
    const Json *pieces = &all["pre_tokenizer"];
    if (typeOf(*pieces) == "Sequence" && pieces->contains("pretokenizers") &&
        (*pieces)["pretokenizers"].is_array()) {
      const Json &parts = (*pieces)["pretokenizers"];
      for (const Json &part : parts) {
        if (typeOf(part) != "ByteLevel") {
          unsupported(
              "pieces of \"ByteLevel\" alone",
              "pieces of " + typeOf(part) +
                  (typeOf(part) == "Split" ? " by another pattern" : ""));
        }
      }
      if (parts.size() == 1) {
        pieces = &parts[0];
      }
    }
    if (typeOf(*pieces) != "ByteLevel") {
      unsupported("pieces of \"ByteLevel\"", typeOf(*pieces));
    }
    if (!isNothing(*pieces, "add_prefix_space")) {
      unsupported("one that adds no space before a text",
                  "\"add_prefix_space\": true");
    }
    if (pieces->contains("use_regex") && (*pieces)["use_regex"] != true) {
      unsupported("one with GPT-2's pattern", "\"use_regex\": false");
    }
  }

  void readVocabulary() {
    const Json &tokens = file.at({"model", "vocab"});
    if (!tokens.is_object() || tokens.empty()) {
      file.expected({"model", "vocab"}, "tokens and their numbers", tokens);
    }
    for (const auto &[text, value] : tokens.items()) {
      auto number = static_cast<int32_t>(file.integer(
          {"model", "vocab", text}, 0, numbersFor(tokens.size()) - 1));
      auto place = static_cast<size_t>(number);
      vocabulary.resize(std::max(vocabulary.size(), place + 1));
      if (text.empty() || !vocabulary[place].empty()) {
        file.refuse({"model", "vocab", text},
                    "expected a text and a number of its own for each token, "
                    "got " +
                        std::to_string(number) + " for '" + printable(text) +
                        "'");
      }
      vocabulary[place] = text;
      numbers.emplace(text, number);
    }
  }

  void readMerges() {
    const Json &list = file.at({"model", "merges"});
    if (!list.is_array()) {
      file.expected({"model", "merges"}, "a list of pairs", list);
    }
    for (size_t i = 0; i < list.size(); ++i) {
      auto fail = [&](const std::string &what, const std::string &got) {
        raise({ErrorCode::IoError,
               path + ": merge " + std::to_string(i) + ": expected " + what +
                   ", got " + got,
               {}});
      };
      std::string left, right;
      if (list[i].is_array() && list[i].size() == 2 && list[i][0].is_string() &&
          list[i][1].is_string()) {
        left = list[i][0];
        right = list[i][1];
      } else if (list[i].is_string()) {
        std::string text = list[i];
        size_t space = text.find(' ');
        if (space == std::string::npos ||
            text.find(' ', space + 1) != std::string::npos) {
          fail("two tokens with a space between them", shortText(list[i]));
        }
        left = text.substr(0, space);
        right = text.substr(space + 1);
      } else {
        fail("two tokens", shortText(list[i]));
      }
      auto a = numbers.find(left), b = numbers.find(right),
           c = numbers.find(left + right);
      if (a == numbers.end() || b == numbers.end() || c == numbers.end()) {
        fail("tokens of the vocabulary, both and what they become",
             shortText(left) + " and " + shortText(right));
      }
      merges.push_back({a->second, b->second, c->second});
    }
  }

  std::vector<AddedToken> addedTokens() const {
    std::vector<AddedToken> added;
    if (isNothing(file.value(), "added_tokens")) {
      return added;
    }
    const Json &list = file.at({"added_tokens"});
    for (const Json &one : list) {
      bool isToken = one.is_object() && one.contains("id") &&
                     one["id"].is_number_integer() && one["id"] >= 0 &&
                     one["id"] < mostBytePairTokens &&
                     one.contains("content") && one["content"].is_string();
      if (!isToken) {
        file.expected({"added_tokens"},
                      "tokens with an \"id\" and a \"content\"", one);
      }
      std::string text = one["content"];
      for (const char *key : {"single_word", "lstrip", "rstrip"}) {
        if (!isNothing(one, key)) {
          unsupported(std::string("added tokens without \"") + key + "\"",
                      "'" + printable(text) + "' with it");
        }
      }
      added.push_back({text, one["id"].get<int32_t>()});
    }
    return added;
  }

  std::string path;
  JsonFile file;
  std::vector<std::string> vocabulary;
  std::unordered_map<std::string, int32_t> numbers;
  std::vector<Merge> merges;
};
} // namespace

std::shared_ptr<const BytePairTokenizer>
BytePairTokenizer::readJson(const std::string &path) {
  return Reader(path).read();
}

} // namespace nereid::gpt2
