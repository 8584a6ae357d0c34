//===- BytePairTrainer.cpp - Merges of byte-level BPE from a text ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/BytePairTrainer.h"

#include "apps/gpt2/data/ByteAlphabet.h"
#include "apps/gpt2/data/PieceScanner.h"

#include <algorithm>
#include <array>
#include <queue>

namespace nereid::gpt2 {

void BytePairTrainer::add(std::string_view text) {
  while (!text.empty()) {
    size_t special = text.find(endOfTextText);
    std::string_view part = text.substr(0, special);
    const uint8_t *at = reinterpret_cast<const uint8_t *>(part.data());
    const uint8_t *end = at + part.size();
    while (at < end) {
      const uint8_t *stop = pieceEnd(at, end);
      std::string_view piece(reinterpret_cast<const char *>(at),
                             static_cast<size_t>(stop - at));
      auto found = pieces.find(piece);
      if (found == pieces.end()) {
        found = pieces.emplace(piece, 0).first;
      }
      ++found->second;
      at = stop;
    }
    text.remove_prefix(special == std::string_view::npos
                           ? text.size()
                           : special + endOfTextText.size());
  }
}

void BytePairTrainer::add(BytePairTrainer &&other) {
  if (pieces.empty()) {
    pieces = std::move(other.pieces);
    return;
  }
  for (const auto &[piece, count] : other.pieces) {
    pieces[piece] += count;
  }
}

namespace {
using Pair = std::pair<int32_t, int32_t>;

struct PairHash {
  size_t operator()(const Pair &pair) const {
    return PairTable::pairOf(pair.first, pair.second) * 0x9E3779B97F4A7C15 >> 7;
  }
};

struct Occurrences {
  int64_t count = 0;
  std::vector<uint32_t> words; ///< that had the pair once; may repeat
};

struct Candidate {
  int64_t count;
  Pair pair;
  /// For a queue whose top is merged next.
  bool operator<(const Candidate &other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

struct Word {
  std::vector<int32_t> tokens;
  int64_t count;
};

class Training {
public:
  std::vector<Word> words;
  std::unordered_map<Pair, Occurrences, PairHash> pairs;
  std::priority_queue<Candidate> queue;

  void countPairs() {
    for (uint32_t i = 0; i < words.size(); ++i) {
      for (size_t j = 1; j < words[i].tokens.size(); ++j) {
        change({words[i].tokens[j - 1], words[i].tokens[j]}, words[i].count, i);
      }
    }
    for (const auto &[pair, occurrences] : pairs) {
      queue.push({occurrences.count, pair});
    }
  }

  /// The most frequent pair, with the count it has now.
  Candidate next() {
    while (!queue.empty()) {
      Candidate top = queue.top();
      queue.pop();
      int64_t count = pairs[top.pair].count;
      if (count == top.count) {
        return top;
      }
      if (count > 0) {
        queue.push({count, top.pair});
      }
    }
    return {0, {}};
  }

  void merge(Pair pair, int32_t result) {
    std::vector<uint32_t> touched = std::move(pairs[pair].words);
    pairs[pair].words.clear();
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    fresh.clear();
    for (uint32_t i : touched) {
      mergeWord(i, pair, result);
    }
    pairs[pair].count = 0;
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    for (Pair made : fresh) {
      if (int64_t count = pairs[made].count; count > 0) {
        queue.push({count, made});
      }
    }
  }

private:
  void change(Pair pair, int64_t by, uint32_t word) {
    Occurrences &occurrences = pairs[pair];
    occurrences.count += by;
    if (by > 0 &&
        (occurrences.words.empty() || occurrences.words.back() != word)) {
      occurrences.words.push_back(word);
    }
  }

  void mergeWord(uint32_t index, Pair pair, int32_t result) {
    Word &word = words[index];
    std::vector<int32_t> &tokens = word.tokens;
    size_t out = 0;
    for (size_t i = 0; i < tokens.size(); ++out) {
      if (i + 1 == tokens.size() || tokens[i] != pair.first ||
          tokens[i + 1] != pair.second) {
        tokens[out] = tokens[i++];
        continue;
      }
      if (out > 0) {
        change({tokens[out - 1], pair.first}, -word.count, index);
        change({tokens[out - 1], result}, word.count, index);
        fresh.push_back({tokens[out - 1], result});
      }
      i += 2;
      if (i < tokens.size()) {
        change({pair.second, tokens[i]}, -word.count, index);
        change({result, tokens[i]}, word.count, index);
        fresh.push_back({result, tokens[i]});
      }
      tokens[out] = result;
    }
    tokens.resize(out);
  }

  std::vector<Pair> fresh; ///< pairs that a merge made
};
} // namespace

std::shared_ptr<const BytePairTokenizer>
BytePairTrainer::train(int32_t size,
                       const std::function<void(int32_t)> &progress) const {
  std::vector<std::string> vocabulary;
  std::unordered_map<std::string, int32_t> numbers;
  std::array<int32_t, 256> byteTokens;
  for (int i = 0; i < 256; ++i) {
    byteTokens[byteInOrder(i)] = i;
    vocabulary.push_back(
        spelled(std::string(1, static_cast<char>(byteInOrder(i)))));
    numbers[vocabulary.back()] = i;
  }
  Training training;
  for (const auto &[piece, count] : pieces) {
    Word &word = training.words.emplace_back();
    word.count = static_cast<int64_t>(count);
    for (char byte : piece) {
      word.tokens.push_back(byteTokens[static_cast<uint8_t>(byte)]);
    }
  }
  training.countPairs();
  std::vector<Merge> merges;
  while (static_cast<int32_t>(vocabulary.size()) + 1 < size) {
    Candidate best = training.next();
    if (best.count < 2) {
      break;
    }
    auto [left, right] = best.pair;
    std::string text = vocabulary[static_cast<size_t>(left)] +
                       vocabulary[static_cast<size_t>(right)];
    // Two pairs can give the same text; then it is the same token.
    auto [known, isNew] =
        numbers.emplace(text, static_cast<int32_t>(vocabulary.size()));
    if (isNew) {
      vocabulary.push_back(text);
    }
    merges.push_back({left, right, known->second});
    training.merge(best.pair, known->second);
    if (progress && isNew) {
      progress(static_cast<int32_t>(vocabulary.size()) + 1);
    }
  }
  vocabulary.push_back(std::string(endOfTextText));
  return std::make_shared<BytePairTokenizer>(std::move(vocabulary),
                                             std::move(merges));
}

} // namespace nereid::gpt2
