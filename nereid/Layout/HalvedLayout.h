//===- HalvedLayout.h - Tiles that move half by half ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_HALVEDLAYOUT_H
#define NEREID_LAYOUT_HALVEDLAYOUT_H

#include "nereid/Layout/TileLayout.h"

namespace nereid {

/// The highest of the flattened index's `bits` bits that one register column of
/// each layout is, and nothing else touches: both halves of the tile can move
/// on their own.
std::optional<unsigned> commonRegisterBit(const TileLayout &from,
                                          const TileLayout &to, unsigned bits);

/// The layout of the half of a tile in which bit `i` has one value. `column`,
/// if not null, gets the register column that was the bit.
TileLayout halfOf(const TileLayout &layout, unsigned i,
                  unsigned *column = nullptr);

} // namespace nereid

#endif // NEREID_LAYOUT_HALVEDLAYOUT_H
