//===- BytePairTokenizer.cpp - GPT-2's byte-level BPE ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/BytePairTokenizer.h"

#include "apps/gpt2/data/ByteAlphabet.h"
#include "apps/gpt2/data/PieceScanner.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace nereid::gpt2 {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

PairTable::PairTable(const std::vector<Merge> &merges) {
  uint64_t slots = std::bit_ceil(merges.size() * 2 + 2);
  entries.resize(slots);
  mask = slots - 1;
  shift = 64 - std::countr_zero(slots);
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    uint64_t pair = pairOf(merges[rank].left, merges[rank].right);
    uint64_t slot = slotOf(pair);
    while (entries[slot].pair != pair && entries[slot].pair != ~uint64_t{0}) {
      slot = (slot + 1) & mask;
    }
    entries[slot] = {pair, static_cast<uint32_t>(rank), merges[rank].result};
  }
}

BytePairTokenizer::BytePairTokenizer(std::vector<std::string> vocabulary,
                                     std::vector<Merge> merges,
                                     const std::vector<AddedToken> &others)
    : vocabulary(std::move(vocabulary)), merges_(std::move(merges)),
      pairs(merges_) {
  byteTokens.fill(-1);
  auto below =
      static_cast<size_t>(numbersFor(this->vocabulary.size() + others.size()));
  for (const AddedToken &one : others) {
    auto number = static_cast<size_t>(one.token);
    if (one.text.empty() || one.token < 0 || number >= below) {
      raise({ErrorCode::InvalidArgument,
             "expected added tokens with a text and a number below " +
                 std::to_string(below) + ", got '" + printable(one.text) +
                 "' as " + std::to_string(one.token),
             {}});
    }
    this->vocabulary.resize(std::max(this->vocabulary.size(), number + 1));
    std::string &spelling = this->vocabulary[number];
    if (!spelling.empty() && spelling != one.text) {
      raise({ErrorCode::InvalidArgument,
             "expected one text for token " + std::to_string(one.token) +
                 ", got '" + printable(spelling) + "' and '" +
                 printable(one.text) + "'",
             {}});
    }
    spelling = one.text;
    if (one.text != endOfTextText) {
      added.push_back(one);
    }
  }
  Hasher hasher;
  hasher.field("bpe");
  for (const std::string &text : this->vocabulary) {
    hasher.field(text);
    int32_t token = static_cast<int32_t>(texts.size());
    if (text == endOfTextText) {
      special = token;
    }
    texts.push_back(unspelled(text).value_or(text));
    if (unspelled(text) && texts.back().size() == 1) {
      byteTokens[static_cast<uint8_t>(texts.back()[0])] = token;
    }
  }
  for (size_t byte = 0; byte < 256; ++byte) {
    if (byteTokens[byte] < 0) {
      raise({ErrorCode::InvalidArgument,
             "expected a token for each of the 256 bytes, got none for byte " +
                 std::to_string(byte) + " ('" +
                 spelled(std::string(1, static_cast<char>(byte))) +
                 "'); is it the vocabulary of a byte-level BPE?",
             {}});
    }
  }
  for (const Merge &merge : merges_) {
    hasher.field(static_cast<uint64_t>(merge.left));
    hasher.field(static_cast<uint64_t>(merge.right));
  }
  // In one order, whatever file they are of.
  std::sort(added.begin(), added.end(),
            [](const AddedToken &a, const AddedToken &b) {
              return a.token < b.token;
            });
  for (const AddedToken &one : added) {
    hasher.field("added");
    hasher.field(static_cast<uint64_t>(one.token));
    texts[static_cast<size_t>(one.token)] = one.text;
  }
  if (special) {
    added.push_back({std::string(endOfTextText), *special});
  }
  std::sort(added.begin(), added.end(),
            [](const AddedToken &a, const AddedToken &b) {
              return std::pair(b.text.size(), a.token) <
                     std::pair(a.text.size(), b.token);
            });
  hash_ = hasher.finish();
}

BytePairTokenizer::~BytePairTokenizer() = default;

//===----------------------------------------------------------------------===//
// Merging the bytes of a piece
//===----------------------------------------------------------------------===//

namespace {
constexpr uint32_t noRank = ~uint32_t{0};

/// A token of a piece in the making, in a list.
struct Symbol {
  int32_t token;
  int32_t before, behind; ///< -1: none
};

/// A pair that may merge: its left symbol, and what it was when it was found.
struct Candidate {
  uint32_t rank;
  int32_t at;
  int32_t left, right, result;
  /// For a heap whose top merges first.
  bool operator<(const Candidate &other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

/// Pieces longer than this merge by a heap.
constexpr size_t shortPiece = 96;
} // namespace

/// 32 bytes a piece, found by its hash or not at all.
struct BytePairTokenizer::Cache {
  struct Entry {
    uint64_t key[2] = {0, 0}; ///< the bytes, zeros, and the length last
    int32_t tokens[3] = {};
    int32_t count = 0;
  };
  static constexpr size_t mostBytes = 15, mostTokens = 3;
  static constexpr int bits = 16;
  std::vector<Entry> entries = std::vector<Entry>(size_t{1} << bits);

  static void keyOf(const uint8_t *piece, size_t bytes, size_t readable,
                    uint64_t key[2]) {
    if (readable >= 16) {
      std::memcpy(key, piece, 16);
      uint64_t keep = ~uint64_t{0} >> (64 - 8 * (bytes & 7)) % 64;
      if (bytes < 8) {
        key[0] &= bytes ? keep : 0;
        key[1] = 0;
      } else {
        key[1] &= bytes > 8 ? keep : 0;
      }
    } else {
      key[0] = key[1] = 0;
      std::memcpy(key, piece, bytes);
    }
    key[1] |= uint64_t{bytes} << 56;
  }
  Entry &slot(const uint64_t key[2]) {
    uint64_t hash = key[0] * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
    hash = (hash + key[1]) * 0xC2B2AE3D27D4EB4F;
    return entries[hash >> (64 - bits)];
  }
};

/// What one thread encodes with.
struct BytePairTokenizer::Scratch {
  Cache cache;
  std::vector<int32_t> tokens; ///< of the piece
  std::vector<uint32_t> ranks;
  std::vector<int32_t> results;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

/// The lowest rank is looked for again after each merge: the pieces are short.
void BytePairTokenizer::mergeShort(const uint8_t *piece, size_t bytes,
                                   Scratch &scratch) const {
  std::vector<int32_t> &tokens = scratch.tokens;
  std::vector<uint32_t> &ranks = scratch.ranks; // of token i and the next one
  std::vector<int32_t> &results = scratch.results;
  tokens.resize(bytes);
  ranks.resize(bytes);
  results.resize(bytes);
  auto rate = [&](size_t i) {
    const PairTable::Entry *entry =
        i + 1 < tokens.size() ? pairs.find(tokens[i], tokens[i + 1]) : nullptr;
    ranks[i] = entry ? entry->rank : noRank;
    results[i] = entry ? entry->result : 0;
  };
  for (size_t i = 0; i < bytes; ++i) {
    tokens[i] = byteTokens[piece[i]];
  }
  for (size_t i = 0; i < bytes; ++i) {
    rate(i);
  }
  while (tokens.size() > 1) {
    size_t best = static_cast<size_t>(
        std::min_element(ranks.begin(), ranks.end()) - ranks.begin());
    if (ranks[best] == noRank) {
      break;
    }
    tokens[best] = results[best];
    auto drop = [&](auto &list) {
      list.erase(list.begin() + static_cast<int64_t>(best) + 1);
    };
    drop(tokens);
    drop(ranks);
    drop(results);
    rate(best);
    if (best > 0) {
      rate(best - 1);
    }
  }
}

/// The same with a list and a heap: n log n for n bytes.
void BytePairTokenizer::mergeLong(const uint8_t *piece, size_t bytes,
                                  Scratch &scratch) const {
  std::vector<Symbol> &symbols = scratch.symbols;
  std::vector<Candidate> &heap = scratch.heap;
  symbols.clear();
  heap.clear();
  for (size_t i = 0; i < bytes; ++i) {
    int32_t at = static_cast<int32_t>(i);
    symbols.push_back(
        {byteTokens[piece[i]], at - 1, i + 1 < bytes ? at + 1 : -1});
  }
  auto consider = [&](int32_t at) {
    if (at < 0 || symbols[at].behind < 0) {
      return false;
    }
    int32_t left = symbols[at].token, right = symbols[symbols[at].behind].token;
    const PairTable::Entry *entry = pairs.find(left, right);
    if (entry) {
      heap.push_back({entry->rank, at, left, right, entry->result});
    }
    return entry != nullptr;
  };
  for (size_t i = 0; i < bytes; ++i) {
    consider(static_cast<int32_t>(i));
  }
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    Candidate top = heap.front();
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    Symbol &left = symbols[top.at];
    // Merged since: a symbol that is gone has token -1.
    if (left.token != top.left || left.behind < 0 ||
        symbols[left.behind].token != top.right) {
      continue;
    }
    Symbol &right = symbols[left.behind];
    left.token = top.result;
    left.behind = right.behind;
    right.token = -1;
    if (left.behind >= 0) {
      symbols[left.behind].before = top.at;
    }
    for (int32_t at : {top.at, left.before}) {
      if (consider(at)) {
        std::push_heap(heap.begin(), heap.end());
      }
    }
  }
  scratch.tokens.clear();
  for (int32_t at = 0; at >= 0; at = symbols[at].behind) {
    scratch.tokens.push_back(symbols[at].token);
  }
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

void BytePairTokenizer::encodeSegment(std::string_view text, Scratch &scratch,
                                      std::vector<int32_t> &tokens) const {
  const uint8_t *at = reinterpret_cast<const uint8_t *>(text.data());
  const uint8_t *end = at + text.size();
  while (at < end) {
    const uint8_t *stop = pieceEnd(at, end);
    size_t bytes = static_cast<size_t>(stop - at);
    Cache::Entry *entry = nullptr;
    uint64_t key[2];
    if (bytes <= Cache::mostBytes) {
      Cache::keyOf(at, bytes, static_cast<size_t>(end - at), key);
      entry = &scratch.cache.slot(key);
      if (entry->key[0] == key[0] && entry->key[1] == key[1]) {
        tokens.insert(tokens.end(), entry->tokens,
                      entry->tokens + entry->count);
        at = stop;
        continue;
      }
    }
    if (bytes > shortPiece) {
      mergeLong(at, bytes, scratch);
    } else {
      mergeShort(at, bytes, scratch);
    }
    tokens.insert(tokens.end(), scratch.tokens.begin(), scratch.tokens.end());
    if (entry && scratch.tokens.size() <= Cache::mostTokens) {
      std::copy(key, key + 2, entry->key);
      std::copy(scratch.tokens.begin(), scratch.tokens.end(), entry->tokens);
      entry->count = static_cast<int32_t>(scratch.tokens.size());
    }
    at = stop;
  }
}

std::unique_ptr<BytePairTokenizer::Scratch>
BytePairTokenizer::takeScratch() const {
  std::lock_guard lock(mutex);
  if (idle.empty()) {
    return std::make_unique<Scratch>();
  }
  std::unique_ptr<Scratch> scratch = std::move(idle.back());
  idle.pop_back();
  return scratch;
}

namespace {
/// Added tokens of a text, from left to right.
class AddedScan {
public:
  AddedScan(const std::vector<AddedToken> &added, std::string_view text)
      : added(added), text(text), next(added.size()) {
    for (size_t i = 0; i < added.size(); ++i) {
      next[i] = text.find(added[i].text);
    }
  }
  /// The leftmost one from `from` on, of several the longest; null without one.
  const AddedToken *find(size_t from, size_t &place) {
    const AddedToken *best = nullptr;
    for (size_t i = 0; i < added.size(); ++i) {
      if (next[i] < from) {
        next[i] = text.find(added[i].text, from);
      }
      if (next[i] != std::string_view::npos && (!best || next[i] < place)) {
        best = &added[i];
        place = next[i];
      }
    }
    return best;
  }

private:
  const std::vector<AddedToken> &added;
  std::string_view text;
  std::vector<size_t> next; ///< of each its first place not yet passed
};
} // namespace

void BytePairTokenizer::encode(std::string_view text,
                               std::vector<int32_t> &tokens) const {
  std::unique_ptr<Scratch> scratch = takeScratch();
  AddedScan scan(added, text);
  size_t from = 0, place = 0;
  while (const AddedToken *one = scan.find(from, place)) {
    encodeSegment(text.substr(from, place - from), *scratch, tokens);
    tokens.push_back(one->token);
    from = place + one->text.size();
  }
  encodeSegment(text.substr(from), *scratch, tokens);
  std::lock_guard lock(mutex);
  idle.push_back(std::move(scratch));
}

size_t BytePairTokenizer::cutAfter(std::string_view text, size_t from) const {
  while (true) {
    size_t cut = gpt2::cutAfter(text, from);
    bool isInside = false;
    for (const AddedToken &one : added) {
      // Where one of them would reach over the cut.
      size_t before = std::min(cut, one.text.size() - 1);
      std::string_view around =
          text.substr(cut - before, before + one.text.size() - 1);
      isInside |= around.find(one.text) != std::string_view::npos;
    }
    if (!isInside || cut == text.size()) {
      return cut;
    }
    from = cut + 1;
  }
}

} // namespace nereid::gpt2
