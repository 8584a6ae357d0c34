//===- Markup.h - Text in HTML and XML --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_MARKUP_H
#define NEREID_SUPPORT_MARKUP_H

#include <string>
#include <string_view>

namespace nereid {

/// `text` as the content of an element, or of an attribute in double quotes.
inline std::string escapedMarkup(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

} // namespace nereid

#endif // NEREID_SUPPORT_MARKUP_H
