//===- RankFile.cpp - Tokens and ranks of tiktoken ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line for each token: its bytes in base64, a space, its rank, which is its
// number. tiktoken merges the two neighbours whose bytes together have the
// lowest rank. That gives the tokens of merges: a token's own bytes, merged
// with lower ranks alone, end as two tokens, and these two are its merge (when
// it is its turn in a text, its bytes are in that state as well: nothing of a
// higher rank has been merged before). Special tokens are in no file; by their
// order <|endoftext|> is the first number that has no token.
//
// The pattern that cuts texts into pieces is in no file either. GPT-2's is
// taken; vocabularies that are known to have another are refused.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/ByteAlphabet.h"
#include "apps/gpt2/data/BytePairTokenizer.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace nereid::gpt2 {

[[noreturn]] static void refuse(const std::string &path,
                                const std::string &what,
                                ErrorCode code = ErrorCode::IoError) {
  raise({code, path + ": " + what, {}});
}

static std::optional<std::string> fromBase64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t end = text.find('=');
  std::string_view body = text.substr(0, end),
                   padding = text.substr(body.size());
  if (text.empty() || text.size() % 4 != 0 || padding.size() > 2 ||
      padding.find_first_not_of('=') != std::string_view::npos) {
    return std::nullopt;
  }
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : body) {
    size_t digit = digits.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 255);
    }
  }
  return bytes;
}

namespace {
class RankReader {
public:
  explicit RankReader(const std::string &path) : path(path) {}

  std::shared_ptr<const BytePairTokenizer> read() {
    readLines();
    // cl100k_base and o200k_base have 100256 and 199998 tokens.
    if (texts.size() > 100000) {
      refuse(path,
             "expected a vocabulary that goes with GPT-2's pattern of pieces "
             "(gpt2, r50k_base, p50k_base), got one of " +
                 std::to_string(texts.size()) +
                 " tokens, which has another pattern",
             ErrorCode::Unsupported);
    }
    std::vector<std::string> vocabulary;
    std::optional<int32_t> gap;
    for (const std::string &text : texts) {
      if (text.empty() && !gap) {
        gap = static_cast<int32_t>(vocabulary.size());
      }
      vocabulary.push_back(spelled(text));
    }
    int32_t end = gap.value_or(static_cast<int32_t>(texts.size()));
    try {
      return std::make_shared<BytePairTokenizer>(
          std::move(vocabulary), mergesOfAll(),
          std::vector<AddedToken>{{std::string(endOfTextText), end}});
    } catch (const Error &error) {
      refuse(path, error.message(), error.code());
    }
  }

private:
  void readLines() {
    std::string content = valueOrThrow(readFile(path));
    std::string_view rest = content;
    // The last line may have no end.
    int64_t below = numbersFor(
        static_cast<size_t>(std::count(rest.begin(), rest.end(), '\n')) + 1);
    for (size_t number = 1; !rest.empty(); ++number) {
      size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      if (line.empty()) {
        continue;
      }
      size_t space = std::min(line.find(' '), line.size());
      std::optional<std::string> bytes = fromBase64(line.substr(0, space));
      int32_t rank = -1;
      const char *last = line.data() + line.size();
      auto [stop, error] = std::from_chars(
          line.data() + std::min(space + 1, line.size()), last, rank);
      // GPT-2's longest has 128 bytes; finding merges takes their square.
      bool isLine = bytes && !bytes->empty() && bytes->size() <= 1024 &&
                    error == std::errc() && stop == last && rank >= 0 &&
                    rank < below;
      if (!isLine) {
        refuse(path + ":" + std::to_string(number),
               "error: expected a token in base64 and its rank, a number "
               "below " +
                   std::to_string(below) +
                   ", as tiktoken's files have them, got '" +
                   printable(line.substr(0, 80)) + "'");
      }
      auto place = static_cast<size_t>(rank);
      texts.resize(std::max(texts.size(), place + 1));
      if (!texts[place].empty() || !ranks.emplace(*bytes, rank).second) {
        refuse(path + ":" + std::to_string(number),
               "error: expected each token and each rank once, got '" +
                   printable(line.substr(0, 80)) + "' again");
      }
      texts[place] = *bytes;
    }
    if (texts.empty()) {
      refuse(path, "expected tokens and their ranks, got an empty file");
    }
  }

  /// In the order of their ranks.
  std::vector<Merge> mergesOfAll() const {
    std::vector<Merge> merges;
    for (size_t rank = 0; rank < texts.size(); ++rank) {
      if (texts[rank].size() > 1) {
        merges.push_back(mergeOf(static_cast<int32_t>(rank)));
      }
    }
    return merges;
  }

  Merge mergeOf(int32_t rank) const {
    const std::string &text = texts[static_cast<size_t>(rank)];
    // The places where parts begin, and the end.
    std::vector<size_t> cuts(text.size() + 1);
    for (size_t i = 0; i < cuts.size(); ++i) {
      cuts[i] = i;
    }
    while (cuts.size() > 3) {
      int32_t least = rank;
      size_t at = 0;
      for (size_t i = 0; i + 2 < cuts.size(); ++i) {
        auto found = ranks.find(text.substr(cuts[i], cuts[i + 2] - cuts[i]));
        if (found != ranks.end() && found->second < least) {
          least = found->second;
          at = i;
        }
      }
      if (least == rank) {
        break;
      }
      cuts.erase(cuts.begin() + static_cast<ptrdiff_t>(at) + 1);
    }
    auto partOf = [&](size_t i) {
      auto found = ranks.find(text.substr(cuts[i], cuts[i + 1] - cuts[i]));
      return found == ranks.end() ? -1 : found->second;
    };
    if (cuts.size() != 3 || partOf(0) < 0 || partOf(1) < 0) {
      refuse(path, "token " + std::to_string(rank) + " ('" + printable(text) +
                       "'): expected one that two tokens of lower ranks make, "
                       "got one that none do");
    }
    return {partOf(0), partOf(1), rank};
  }

  std::string path;
  std::vector<std::string> texts; ///< by rank; empty: none
  std::unordered_map<std::string, int32_t> ranks;
};
} // namespace

std::shared_ptr<const BytePairTokenizer>
BytePairTokenizer::readRanks(const std::string &path) {
  return RankReader(path).read();
}

} // namespace nereid::gpt2
