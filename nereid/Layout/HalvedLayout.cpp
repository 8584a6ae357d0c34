//===- HalvedLayout.cpp - Tiles that move half by half --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/HalvedLayout.h"

#include <algorithm>

namespace nereid {

static bool isRegisterBit(const TileLayout &layout, uint32_t bit) {
  unsigned touching = 0;
  for (const auto *part : {&layout.registers, &layout.lanes, &layout.warps}) {
    touching += std::count_if(part->begin(), part->end(),
                              [&](uint32_t c) { return c & bit; });
  }
  return touching == 1 &&
         std::find(layout.registers.begin(), layout.registers.end(), bit) !=
             layout.registers.end();
}

std::optional<unsigned> commonRegisterBit(const TileLayout &from,
                                          const TileLayout &to, unsigned bits) {
  for (unsigned i = bits; i-- > 0;) {
    if (isRegisterBit(from, 1u << i) && isRegisterBit(to, 1u << i)) {
      return i;
    }
  }
  return std::nullopt;
}

TileLayout halfOf(const TileLayout &layout, unsigned i, unsigned *column) {
  TileLayout half = layout;
  auto found = std::find(half.registers.begin(), half.registers.end(), 1u << i);
  if (column) {
    *column = found - half.registers.begin();
  }
  half.registers.erase(found);
  uint32_t below = (1u << i) - 1;
  for (auto *part : {&half.registers, &half.lanes, &half.warps}) {
    for (uint32_t &c : *part) {
      c = (c & below) | (c & ~below) >> 1;
    }
  }
  return half;
}

} // namespace nereid
