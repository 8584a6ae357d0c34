//===- PieceScanner.cpp - GPT-2's cuts of a text --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/PieceScanner.h"

#include "apps/gpt2/data/Utf8.h"

#include <array>
#include <cstring>
#include <iterator>
#include <vector>

namespace nereid::gpt2 {

namespace {
struct Run {
  uint32_t first;
  CharacterClass kind;
};

constexpr CharacterClass O = CharacterClass::Other, L = CharacterClass::Letter,
                         N = CharacterClass::Number, S = CharacterClass::Space;

constexpr Run runs[] = {
#include "apps/gpt2/data/CharacterClasses.inc"
};

constexpr uint32_t codes = 0x110000;

constexpr std::array<CharacterClass, 128> makeAscii() {
  std::array<CharacterClass, 128> table{};
  for (size_t i = 0; i < std::size(runs) && runs[i].first < 128; ++i) {
    for (uint32_t code = runs[i].first; code < 128; ++code) {
      table[code] = runs[i].kind;
    }
  }
  return table;
}
constexpr std::array<CharacterClass, 128> ascii = makeAscii();

/// Two bits a code point: 272 KiB; one script uses a few cache lines.
struct Table {
  std::vector<uint8_t> bits = std::vector<uint8_t>(codes / 4);
  Table() {
    for (size_t i = 0; i < std::size(runs); ++i) {
      uint32_t end = i + 1 < std::size(runs) ? runs[i + 1].first : codes;
      for (uint32_t code = runs[i].first; code < end; ++code) {
        bits[code / 4] |= static_cast<uint8_t>(
            static_cast<uint8_t>(runs[i].kind) << (code % 4 * 2));
      }
    }
  }
};

struct Classified {
  CharacterClass kind;
  uint32_t bytes;
};
} // namespace

CharacterClass classOf(uint32_t code) {
  static const Table table;
  return code < codes ? static_cast<CharacterClass>(
                            table.bits[code / 4] >> (code % 4 * 2) & 3)
                      : CharacterClass::Other;
}

static inline Classified classAt(const uint8_t *at, const uint8_t *end) {
  if (*at < 0x80) {
    return {ascii[*at], 1};
  }
  Character character = longCharacterAt(at, end);
  return {classOf(character.code), character.bytes};
}

static inline const uint8_t *runEnd(const uint8_t *at, const uint8_t *end,
                                    CharacterClass kind) {
  while (at < end) {
    Classified next = classAt(at, end);
    if (next.kind != kind) {
      break;
    }
    at += next.bytes;
  }
  return at;
}

/// Bytes of 's, 't, 're, 've, 'm, 'll or 'd after an apostrophe, with it.
static size_t contractionAt(const uint8_t *at, const uint8_t *end) {
  auto is = [&](const char *text) {
    size_t bytes = std::strlen(text);
    return static_cast<size_t>(end - at) > bytes &&
           std::memcmp(at + 1, text, bytes) == 0;
  };
  if (is("s") || is("t") || is("m") || is("d")) {
    return 2;
  }
  return is("re") || is("ve") || is("ll") ? 3 : 0;
}

/// White space: all of it at the end of a text, otherwise all but its last
/// character, which is a piece of its own when it stands alone.
static const uint8_t *spaceEnd(const uint8_t *at, const uint8_t *end) {
  const uint8_t *last = at, *stop = at;
  while (stop < end) {
    Classified next = classAt(stop, end);
    if (next.kind != CharacterClass::Space) {
      return last == at ? stop : last;
    }
    last = stop;
    stop += next.bytes;
  }
  return stop;
}

const uint8_t *pieceEnd(const uint8_t *at, const uint8_t *end) {
  if (*at == '\'') {
    if (size_t bytes = contractionAt(at, end)) {
      return at + bytes;
    }
  }
  Classified first = classAt(at, end);
  if (first.kind != CharacterClass::Space) {
    return runEnd(at + first.bytes, end, first.kind);
  }
  if (*at == ' ' && end - at > 1) {
    Classified next = classAt(at + 1, end);
    if (next.kind != CharacterClass::Space) {
      return runEnd(at + 1 + next.bytes, end, next.kind);
    }
  }
  return spaceEnd(at, end);
}

size_t cutAfter(std::string_view text, size_t from) {
  const uint8_t *first = reinterpret_cast<const uint8_t *>(text.data());
  const uint8_t *end = first + text.size(), *at = first + from;
  // Not from the middle of a character.
  while (at < end && (*at & 0xC0) == 0x80) {
    ++at;
  }
  CharacterClass before = CharacterClass::Space;
  while (at < end) {
    Classified next = classAt(at, end);
    // A run of letters or numbers always ends a piece, and so does white space
    // after anything else. The bar is where <|endoftext|> has letters first.
    bool endsRun =
        before == CharacterClass::Letter || before == CharacterClass::Number;
    bool isCut = next.kind == CharacterClass::Space
                     ? before != CharacterClass::Space
                     : endsRun && next.kind != before && *at != '|';
    if (isCut) {
      return static_cast<size_t>(at - first);
    }
    before = next.kind;
    at += next.bytes;
  }
  return text.size();
}

} // namespace nereid::gpt2
