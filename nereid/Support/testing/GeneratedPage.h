//===- GeneratedPage.h - Is a page of docs/ current -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_TESTING_GENERATEDPAGE_H
#define NEREID_SUPPORT_TESTING_GENERATEDPAGE_H

#include <algorithm>
#include <string>
#include <string_view>

namespace nereid {

/// The first line in which a page differs from what the program makes of it,
/// and the command that writes the page. Empty: the page is current.
inline std::string differenceOfPage(std::string_view name,
                                    std::string_view page,
                                    std::string_view made) {
  if (page == made) {
    return "";
  }
  auto lineOf = [](std::string_view text, size_t begin) {
    return begin < text.size()
               ? "'" +
                     std::string(
                         text.substr(begin, text.find('\n', begin) - begin)) +
                     "'"
               : "the end";
  };
  size_t same =
      static_cast<size_t>(std::ranges::mismatch(page, made).in1 - page.begin());
  size_t begin = page.rfind('\n', same - 1) + 1;
  if (same == 0) {
    begin = 0;
  }
  auto line = 1 + std::ranges::count(page.substr(0, begin), '\n');
  return std::string(name) + ":" + std::to_string(line) + ": expected " +
         lineOf(made, begin) + ", got " + lineOf(page, begin) +
         "; run scripts/update-docs";
}

} // namespace nereid

#endif // NEREID_SUPPORT_TESTING_GENERATEDPAGE_H
