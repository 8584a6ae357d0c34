//===- ExpandMathReduction.h - Arguments modulo pi/2 ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHREDUCTION_H
#define NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHREDUCTION_H

#include "nereid/Dialect/Tile/Transforms/ExpandMathEmitter.h"

namespace nereid::tile::expand {

/// x = turns pi/2 + hi + lo, |hi| <= pi/4 (1 + 2^-8); turns modulo 4 are in its
/// low two bits, the others are arbitrary. NaN in hi for infinities and NaN.
struct QuarterTurns {
  Int turns;
  Float hi, lo;
};

QuarterTurns reduceToQuarterTurn(Float x);

} // namespace nereid::tile::expand

#endif // NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHREDUCTION_H
