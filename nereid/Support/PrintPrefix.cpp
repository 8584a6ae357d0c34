//===- PrintPrefix.cpp - The text in front of a printed value -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/PrintPrefix.h"

namespace nereid {

std::string printPrefix(std::string_view prefix, bool hasValue) {
  size_t first = prefix.find_first_not_of(' ');
  size_t last = prefix.find_last_not_of(hasValue ? " :" : " ");
  if (first == prefix.npos || last == prefix.npos || last < first) {
    return hasValue ? ": " : " ";
  }
  std::string text = " " + std::string(prefix.substr(first, last - first + 1));
  return hasValue ? text + ": " : text;
}

} // namespace nereid
