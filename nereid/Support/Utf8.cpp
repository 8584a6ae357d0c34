//===- Utf8.cpp - Characters of UTF-8 -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Utf8.h"

namespace nereid {

char32_t decodeUtf8(std::string_view text, size_t &offset) {
  unsigned char lead = text[offset++];
  if (lead < 0x80) {
    return lead;
  }
  int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || offset + more > text.size()) {
    return invalidCharacter;
  }
  char32_t c = lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    unsigned char byte = text[offset + i];
    if ((byte & 0xc0) != 0x80) {
      return invalidCharacter;
    }
    c = c << 6 | (byte & 0x3f);
  }
  constexpr char32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  if (c < smallest[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
    return invalidCharacter;
  }
  offset += more;
  return c;
}

void appendUtf8(std::string &out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      out += static_cast<char>(0xe0 | c >> 12);
    } else {
      out += static_cast<char>(0xf0 | c >> 18);
      out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    }
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
  }
  out += static_cast<char>(0x80 | (c & 0x3f));
}

bool isValidUtf8(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    if (static_cast<unsigned char>(text[offset]) < 0x80) {
      ++offset;
    } else if (decodeUtf8(text, offset) == invalidCharacter) {
      return false;
    }
  }
  return true;
}

} // namespace nereid
