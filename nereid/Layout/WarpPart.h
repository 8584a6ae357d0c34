//===- WarpPart.h - What a warp holds of a tile -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_WARPPART_H
#define NEREID_LAYOUT_WARPPART_H

#include "nereid/Layout/TileLayout.h"

#include <optional>

namespace nereid {

/// Where each warp holds a part of the tile that no other holds, one of the
/// index's bits for each of the warp's: the layout of such a part, whose index
/// is the tile's without these bits.
std::optional<TileLayout> partOfWarp(const TileLayout &layout);

/// Both layouts' parts, if each warp has the same part in both.
struct PartsOfWarp {
  TileLayout from, to;
};
std::optional<PartsOfWarp> partsOfWarp(const TileLayout &from,
                                       const TileLayout &to);

} // namespace nereid

#endif // NEREID_LAYOUT_WARPPART_H
