//===- WarpPart.cpp - What a warp holds of a tile -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/WarpPart.h"

#include <bit>

namespace nereid {

/// `index` without the bits of `mask`.
static uint32_t without(uint32_t index, uint32_t mask) {
  uint32_t kept = 0;
  for (unsigned from = 0, to = 0; from < 32; ++from) {
    if (!(mask >> from & 1)) {
      kept |= (index >> from & 1) << to++;
    }
  }
  return kept;
}

std::optional<TileLayout> partOfWarp(const TileLayout &layout) {
  uint32_t mask = 0;
  for (uint32_t column : layout.warps) {
    if (!std::has_single_bit(column) || column & mask) {
      return std::nullopt;
    }
    mask |= column;
  }
  TileLayout part;
  for (auto [columns, kept] : {std::pair(&layout.registers, &part.registers),
                               std::pair(&layout.lanes, &part.lanes)}) {
    for (uint32_t column : *columns) {
      if (column & mask) {
        return std::nullopt;
      }
      kept->push_back(without(column, mask));
    }
  }
  return part;
}

std::optional<PartsOfWarp> partsOfWarp(const TileLayout &from,
                                       const TileLayout &to) {
  if (from.warps != to.warps) {
    return std::nullopt;
  }
  std::optional<TileLayout> a = partOfWarp(from), b = partOfWarp(to);
  return a && b ? std::optional(PartsOfWarp{*a, *b}) : std::nullopt;
}

} // namespace nereid
