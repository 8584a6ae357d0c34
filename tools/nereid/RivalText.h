//===- RivalText.h - What --against names --------------------- -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_RIVALTEXT_H
#define NEREID_TOOLS_NEREID_RIVALTEXT_H

#include <string>
#include <vector>

namespace nereid {

/// 'label=other.py:kernel BLOCK=64 --grid cdiv(n, 64)', in its parts.
struct RivalText {
  std::string label; ///< empty: none is given
  std::string what;  ///< FILE:KERNEL, a device, or another provider
  std::vector<std::string> arguments; ///< NAME=VALUE each
  std::string grid;                   ///< empty: none is given
};

/// Words end at blanks outside of quotes and brackets; the grid is --grid SIZES
/// or --grid=SIZES. Throws for an empty text, and for a grid without sizes.
RivalText parseRival(const std::string &text);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_RIVALTEXT_H
