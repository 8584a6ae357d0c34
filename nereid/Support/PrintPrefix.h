//===- PrintPrefix.h - The text in front of a printed value -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_PRINTPREFIX_H
#define NEREID_SUPPORT_PRINTPREFIX_H

#include <string>
#include <string_view>

namespace nereid {

/// What device_print shows of its prefix, the same on every device: one space
/// in front, and a colon before a value. "x", " x:" and "x: " all give " x: ",
/// and nothing gives ": ".
std::string printPrefix(std::string_view prefix, bool hasValue);

} // namespace nereid

#endif // NEREID_SUPPORT_PRINTPREFIX_H
