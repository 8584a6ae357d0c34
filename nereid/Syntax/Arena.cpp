//===- Arena.cpp - Where a syntax tree lives ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Arena.h"

#include <algorithm>

namespace nereid {

/// Blocks double from 4 kB to 1 MB; what is larger than a quarter of a block
/// gets one of its own, so that little is wasted at the ends.
void *Arena::allocateSlow(size_t bytes) {
  size_t next = std::clamp<size_t>(capacity * 2, 4096, 1 << 20);
  if (bytes > next / 4) {
    blocks.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return blocks.back().get();
  }
  blocks.push_back(std::make_unique_for_overwrite<std::byte[]>(next));
  block = blocks.back().get();
  capacity = next;
  used = bytes;
  return block;
}

} // namespace nereid
