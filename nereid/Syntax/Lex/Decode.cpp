//===- Decode.cpp - Bytes of a file to UTF-8 lines ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Lex/Decode.h"

#include "nereid/Support/Utf8.h"
#include "nereid/Syntax/Lex/Characters.h"

#include <algorithm>
#include <limits>

namespace nereid::syntax {

static constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";

// What the bytes from 0x80 on mean; 0 where they mean nothing.
static constexpr uint16_t cp1252[32] = {
    0x20ac, 0x0,    0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
    0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x0,    0x17d,  0x0,
    0x0,    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x0,    0x17e,  0x178,
};
static constexpr uint16_t koi8r[128] = {
    0x2500, 0x2502, 0x250c, 0x2510, 0x2514, 0x2518, 0x251c, 0x2524, 0x252c,
    0x2534, 0x253c, 0x2580, 0x2584, 0x2588, 0x258c, 0x2590, 0x2591, 0x2592,
    0x2593, 0x2320, 0x25a0, 0x2219, 0x221a, 0x2248, 0x2264, 0x2265, 0xa0,
    0x2321, 0xb0,   0xb2,   0xb7,   0xf7,   0x2550, 0x2551, 0x2552, 0x451,
    0x2553, 0x2554, 0x2555, 0x2556, 0x2557, 0x2558, 0x2559, 0x255a, 0x255b,
    0x255c, 0x255d, 0x255e, 0x255f, 0x2560, 0x2561, 0x401,  0x2562, 0x2563,
    0x2564, 0x2565, 0x2566, 0x2567, 0x2568, 0x2569, 0x256a, 0x256b, 0x256c,
    0xa9,   0x44e,  0x430,  0x431,  0x446,  0x434,  0x435,  0x444,  0x433,
    0x445,  0x438,  0x439,  0x43a,  0x43b,  0x43c,  0x43d,  0x43e,  0x43f,
    0x44f,  0x440,  0x441,  0x442,  0x443,  0x436,  0x432,  0x44c,  0x44b,
    0x437,  0x448,  0x44d,  0x449,  0x447,  0x44a,  0x42e,  0x410,  0x411,
    0x426,  0x414,  0x415,  0x424,  0x413,  0x425,  0x418,  0x419,  0x41a,
    0x41b,  0x41c,  0x41d,  0x41e,  0x41f,  0x42f,  0x420,  0x421,  0x422,
    0x423,  0x416,  0x412,  0x42c,  0x42b,  0x417,  0x428,  0x42d,  0x429,
    0x427,  0x42a,
};

namespace {
enum class Encoding { Utf8, Ascii, Latin1, Latin9, Cp1252, Koi8r };
struct EncodingName {
  std::string_view name;
  Encoding encoding;
};
} // namespace

static constexpr EncodingName encodings[] = {
    {"utf8", Encoding::Utf8},        {"utf8sig", Encoding::Utf8},
    {"u8", Encoding::Utf8},          {"ascii", Encoding::Ascii},
    {"usascii", Encoding::Ascii},    {"646", Encoding::Ascii},
    {"latin1", Encoding::Latin1},    {"latin", Encoding::Latin1},
    {"l1", Encoding::Latin1},        {"iso88591", Encoding::Latin1},
    {"isolatin1", Encoding::Latin1}, {"88591", Encoding::Latin1},
    {"iso885915", Encoding::Latin9}, {"latin9", Encoding::Latin9},
    {"cp1252", Encoding::Cp1252},    {"windows1252", Encoding::Cp1252},
    {"1252", Encoding::Cp1252},      {"koi8r", Encoding::Koi8r}};

/// Names are compared without case and separators, as Python's codecs are.
static std::optional<Encoding> encodingNamed(std::string_view name) {
  std::string plain;
  for (char c : name) {
    if (c != '-' && c != '_') {
      plain += c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
    }
  }
  for (const EncodingName &entry : encodings) {
    if (entry.name == plain) {
      return entry.encoding;
    }
  }
  // "latin-1-unix", "utf-8-dos": what editors append.
  for (std::string_view head : {"utf8", "latin1", "iso88591", "isolatin1"}) {
    size_t length = head.size() + (head[0] == 'u' ? 1 : head[0] == 'l' ? 1 : 2);
    if (plain.starts_with(head) && name.size() > length &&
        (name[length] == '-' || name[length] == '_')) {
      return encodingNamed(head);
    }
  }
  return std::nullopt;
}

/// The character of a byte from 0x80 on; 0 if there is none.
static char32_t decodeByte(Encoding encoding, unsigned char byte) {
  switch (encoding) {
  case Encoding::Utf8:
  case Encoding::Ascii:
    return 0;
  case Encoding::Latin1:
    return byte;
  case Encoding::Latin9:
    switch (byte) {
    case 0xa4:
      return 0x20ac;
    case 0xa6:
      return 0x160;
    case 0xa8:
      return 0x161;
    case 0xb4:
      return 0x17d;
    case 0xb8:
      return 0x17e;
    case 0xbc:
      return 0x152;
    case 0xbd:
      return 0x153;
    case 0xbe:
      return 0x178;
    default:
      return byte;
    }
  case Encoding::Cp1252:
    return byte < 0xa0 ? cp1252[byte - 0x80] : byte;
  case Encoding::Koi8r:
    return koi8r[byte - 0x80];
  }
  return 0;
}

static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

/// The encoding a comment line declares: "coding", ':' or '=', blanks, a name.
static std::string_view declaredEncoding(std::string_view line) {
  size_t hash = 0;
  while (hash < line.size() && isBlank(line[hash])) {
    ++hash;
  }
  if (hash == line.size() || line[hash] != '#') {
    return {};
  }
  for (size_t at = line.find("coding", hash); at != line.npos;
       at = line.find("coding", at + 1)) {
    size_t begin = at + 6;
    if (begin >= line.size() || (line[begin] != ':' && line[begin] != '=')) {
      continue;
    }
    do {
      ++begin;
    } while (begin < line.size() &&
             (line[begin] == ' ' || line[begin] == '\t'));
    size_t end = begin;
    while (
        end < line.size() &&
        (isNameCharacter(line[end]) || line[end] == '-' || line[end] == '.') &&
        static_cast<unsigned char>(line[end]) < 128) {
      ++end;
    }
    if (end > begin) {
      return line.substr(begin, end - begin);
    }
  }
  return {};
}

static bool isCommentOrBlank(std::string_view line) {
  auto it = std::find_if_not(line.begin(), line.end(), isBlank);
  return it == line.end() || *it == '#';
}

/// '\r\n' and '\r' become '\n', and the last line gets its end.
static void endLines(std::string &text) {
  if (text.find('\r') != std::string::npos) {
    size_t out = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c == '\r') {
        c = '\n';
        i += i + 1 < text.size() && text[i + 1] == '\n';
      }
      text[out++] = c;
    }
    text.resize(out);
  }
  if (text.empty() || text.back() != '\n') {
    text += '\n';
  }
}

static ast::Span lineSpan(const std::string &text, size_t offset,
                          size_t length) {
  uint32_t line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
  size_t start = text.rfind('\n', offset);
  start = offset == 0 || start == text.npos ? 0 : start + 1;
  uint32_t column = static_cast<uint32_t>(offset - start);
  return {line, column, line, column + static_cast<uint32_t>(length)};
}

/// The declaration in the first two lines (the second only behind a comment or
/// an empty line), as a part of `text`; empty if there is none.
static std::string_view findDeclaration(const std::string &text) {
  std::string_view rest = text;
  for (int i = 0; i < 2; ++i) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    std::string_view name = declaredEncoding(line);
    if (!name.empty() || !isCommentOrBlank(line)) {
      return name;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

static std::optional<Problem> transcode(std::string &text, Encoding encoding,
                                        std::string_view name) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = text[i];
    if (byte < 0x80) {
      out += static_cast<char>(byte);
      continue;
    }
    char32_t c = decodeByte(encoding, byte);
    if (c == 0) {
      return Problem{lineSpan(text, i, 1),
                     "a byte that is not a character in the encoding '" +
                         std::string(name) + "'",
                     "declare the encoding that the file is saved in"};
    }
    appendUtf8(out, c);
  }
  text = std::move(out);
  return std::nullopt;
}

std::optional<Problem> decodeSource(std::string &text) {
  if (text.size() > std::numeric_limits<int32_t>::max() / 2) {
    return Problem{{1, 0, 1, 0}, "the file is larger than 1 GB", ""};
  }
  endLines(text);
  bool marked = text.starts_with(byteOrderMark);
  if (marked) {
    text.erase(0, byteOrderMark.size());
  }
  if (size_t nul = text.find('\0'); nul != text.npos) {
    return Problem{lineSpan(text, nul, 1),
                   "source code cannot contain null bytes",
                   "expected text, got a byte that is 0; the file may be "
                   "saved as UTF-16, or be no text at all"};
  }
  std::string_view name = findDeclaration(text);
  if (name.empty()) {
    return std::nullopt;
  }
  ast::Span span = lineSpan(text, name.data() - text.data(), name.size());
  std::optional<Encoding> encoding = encodingNamed(name);
  if (!encoding) {
    return Problem{span, "unknown encoding '" + std::string(name) + "'",
                   "expected utf-8, ascii, latin-1, iso-8859-15, cp1252 or "
                   "koi8-r"};
  }
  // Behind a mark CPython takes "utf-8" only, not even "utf8".
  bool dashed = name.size() > 3 && (name[3] == '-' || name[3] == '_');
  if (*encoding == Encoding::Utf8 && (dashed || !marked)) {
    return std::nullopt;
  }
  if (marked) {
    return Problem{span,
                   "the encoding '" + std::string(name) +
                       "' contradicts the UTF-8 byte order mark",
                   "remove the declaration"};
  }
  return transcode(text, *encoding, std::string(name));
}

} // namespace nereid::syntax
