//===- ParseString.cpp - The values of strings ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adjacent literals are one value: bytes, a str, or, if one of them is an
// f-string, a JoinedStr whose parts carry the span of the whole, as in CPython
// 3.11.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/StringParser.h"

#include "nereid/Support/Utf8.h"
#include "nereid/Syntax/Lex/Characters.h"

namespace nereid::syntax {

using namespace ast;

//===----------------------------------------------------------------------===//
// Escapes
//===----------------------------------------------------------------------===//

/// The character a one-letter escape stands for, or -1.
static int simpleEscape(char c) {
  switch (c) {
  case '\\':
  case '\'':
  case '"':
    return c;
  case 'a':
    return 7;
  case 'b':
    return 8;
  case 't':
    return 9;
  case 'n':
    return 10;
  case 'v':
    return 11;
  case 'f':
    return 12;
  case 'r':
    return 13;
  default:
    return -1;
  }
}

static unsigned hexValue(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/// Up to `most` hexadecimal digits; returns how many there are.
static unsigned readHex(std::string_view text, size_t offset, unsigned most,
                        char32_t &value) {
  unsigned count = 0;
  for (value = 0; count < most && offset + count < text.size() &&
                  isHexDigit(text[offset + count]);
       ++count) {
    value = value * 16 + hexValue(text[offset + count]);
  }
  return count;
}

/// "\N{...}"; `offset` is after the N.
bool StringParser::namedEscape(const Token &token, std::string_view body,
                               size_t &offset, std::string &out) {
  size_t close = offset < body.size() && body[offset] == '{'
                     ? body.find('}', offset)
                     : std::string_view::npos;
  if (close == std::string_view::npos || close == offset + 1) {
    parser.raiseInString(token, "malformed \\N character escape",
                         "write \\N{name}, for example \\N{DEGREE SIGN}");
    return false;
  }
  std::string_view name = body.substr(offset + 1, close - offset - 1);
  std::optional<char32_t> c = characterNamed(name);
  if (!c) {
    parser.raiseInString(token,
                         "unknown Unicode character name '" +
                             std::string(name.substr(0, 60)) + "'",
                         "names are those of Unicode 14");
    return false;
  }
  appendUtf8(out, *c);
  offset = close + 1;
  return true;
}

/// One escape of a str or of bytes; `offset` is after the backslash.
bool StringParser::escape(const Token &token, std::string_view body,
                          size_t &offset, bool bytes, std::string &out) {
  char c = body[offset];
  auto append = [&](char32_t value) {
    if (bytes) {
      out += static_cast<char>(value);
    } else {
      appendUtf8(out, value);
    }
  };
  if (c == '\n') {
    ++offset;
    return true;
  }
  if (int simple = simpleEscape(c); simple >= 0) {
    ++offset;
    out += static_cast<char>(simple);
    return true;
  }
  if (c >= '0' && c <= '7') {
    char32_t value = 0;
    for (int i = 0; i < 3 && offset < body.size() && body[offset] >= '0' &&
                    body[offset] <= '7';
         ++i) {
      value = value * 8 + (body[offset++] - '0');
    }
    append(value);
    return true;
  }
  unsigned digits = c == 'x' ? 2 : bytes ? 0 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits) {
    char32_t value;
    if (readHex(body, offset + 1, digits, value) < digits) {
      parser.raiseInString(token, std::string("truncated \\") + c + " escape",
                           std::string("\\") + c + " needs " +
                               std::to_string(digits) + " hexadecimal digits");
      return false;
    }
    if (value > 0x10ffff) {
      parser.raiseInString(token, "illegal Unicode character in \\U escape",
                           "the largest is \\U0010FFFF");
      return false;
    }
    append(value);
    offset += 1 + digits;
    return true;
  }
  if (c == 'N' && !bytes) {
    ++offset;
    return namedEscape(token, body, offset, out);
  }
  out += '\\'; // not an escape: both characters stand for themselves
  return true;
}

bool StringParser::decode(const Token &token, std::string_view body, bool raw,
                          bool bytes, std::string &out) {
  if (!bytes && !isValidUtf8(body)) {
    parser.raiseInString(token, "bytes in a string that are not valid UTF-8",
                         "save the file as UTF-8, or declare its encoding in "
                         "the first line");
    return false;
  }
  if (raw) {
    out += body;
    return true;
  }
  for (size_t offset = 0; offset < body.size();) {
    size_t backslash = std::min(body.find('\\', offset), body.size());
    out += body.substr(offset, backslash - offset);
    offset = backslash + 1;
    if (offset < body.size()) {
      if (!escape(token, body, offset, bytes, out)) {
        return false;
      }
    } else if (backslash < body.size()) {
      out += '\\'; // before a field of an f-string
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

StringParser::Shape StringParser::shapeOf(std::string_view spelled) {
  Shape shape;
  size_t quote = 0;
  for (; spelled[quote] != '"' && spelled[quote] != '\''; ++quote) {
    char letter = spelled[quote] | 0x20;
    shape.raw |= letter == 'r';
    shape.bytes |= letter == 'b';
    shape.format |= letter == 'f';
  }
  size_t quotes = spelled.size() >= quote + 6 &&
                          spelled[quote + 1] == spelled[quote] &&
                          spelled[quote + 2] == spelled[quote]
                      ? 3
                      : 1;
  shape.begin = static_cast<uint32_t>(quote + quotes);
  shape.end = static_cast<uint32_t>(spelled.size() - quotes);
  return shape;
}

/// The common case, one literal without escapes, is a view of the source.
Expr *StringParser::plain(const Token &token, const Shape &shape) {
  std::string_view spelled = parser.text(token);
  std::string_view body = spelled.substr(shape.begin, shape.end - shape.begin);
  if (shape.format || (!shape.raw && body.find('\\') != body.npos)) {
    return nullptr;
  }
  for (char c : body) {
    if (static_cast<unsigned char>(c) >= 128 &&
        (shape.bytes || !isValidUtf8(body))) {
      return nullptr;
    }
  }
  Constant *node = constant(body, span);
  node->constantKind = shape.bytes ? ConstantKind::Bytes : ConstantKind::Str;
  node->hasUPrefix = !shape.bytes && hasUPrefix;
  return node;
}

Constant *StringParser::constant(std::string_view text, const Span &span) {
  Constant *node = parser.arena.create<Constant>();
  node->span = span;
  node->constantKind = ConstantKind::Str;
  node->text = text;
  node->hasUPrefix = hasUPrefix;
  return node;
}

bool StringParser::add(const Token &token, const Shape &shape) {
  std::string_view spelled = parser.text(token);
  std::string_view body = spelled.substr(shape.begin, shape.end - shape.begin);
  if (shape.format) {
    return FStringParser(*this, token, shape).parse();
  }
  if (shape.bytes) {
    for (char c : body) {
      if (static_cast<unsigned char>(c) >= 128) {
        parser.raise(token.span, "bytes can only contain ASCII characters",
                     "write other bytes as \\x escapes, or encode a str");
        return false;
      }
    }
  }
  return decode(token, body, shape.raw, shape.bytes, pending);
}

void StringParser::flush(const Span &span) {
  if (!pending.empty()) {
    parts.push_back(
        constant(parser.arena.copy(std::string_view(pending)), span));
    pending.clear();
  }
}

Expr *StringParser::joined(const Span &span) {
  flush(span);
  JoinedStr *node = parser.arena.create<JoinedStr>();
  node->span = span;
  node->values = parser.arena.copy(parts.data(), parts.size());
  return parser.bound(node, node->values);
}

Expr *StringParser::parse() {
  uint32_t firstToken = parser.pos;
  uint32_t end = firstToken;
  while (parser.token(end).kind == Tok::String) {
    ++end;
  }
  if (parser.raised) {
    return nullptr;
  }
  parser.pos = end;
  const Token &first = parser.tokens[firstToken];
  span = first.span.to(parser.tokens[end - 1].span);
  hasUPrefix = parser.text(first)[0] == 'u';
  bool format = false, bytes = false;
  for (uint32_t i = firstToken; i < end; ++i) {
    const Token token = parser.tokens[i];
    Shape shape = shapeOf(parser.text(token));
    if (i + 1 == end && i == firstToken) {
      if (Expr *node = plain(token, shape)) {
        return node;
      }
    }
    if (!add(token, shape)) {
      return nullptr;
    }
    if (i > firstToken && shape.bytes != bytes) {
      return parser.raiseInString(token, "cannot mix bytes and str literals",
                                  "give all of the adjacent strings the same "
                                  "prefix");
    }
    bytes = shape.bytes;
    format = format || shape.format;
  }
  if (format) {
    return joined(span);
  }
  Constant *node = constant(parser.arena.copy(std::string_view(pending)), span);
  if (bytes) {
    node->constantKind = ConstantKind::Bytes;
    node->hasUPrefix = false;
  }
  return node;
}

Expr *PythonParser::strings() { return StringParser(*this).parse(); }

} // namespace nereid::syntax
