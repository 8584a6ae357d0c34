//===- ExpandMathFunctions.h - One function for each operation --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each takes values of f32 or f64 (Emitter::isDouble says which) and returns
// the function's value with the error stated in docs/Math.md.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHFUNCTIONS_H
#define NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHFUNCTIONS_H

#include "nereid/Dialect/Tile/Transforms/ExpandMathEmitter.h"

namespace nereid::tile::expand {

// ExpandMathExp.cpp
Float expandExp(Float x);
Float expandExp2(Float x);
Float expandExpm1(Float x);
Float expandSinh(Float x);
Float expandCosh(Float x);
Float expandTanh(Float x);

/// x = n ln 2 + r, |r| <= ln(2) / 2. For |x| below 2^20.
struct ReducedExponent {
  Rounded n;
  Float r;
};
ReducedExponent reduceExponent(Float x);
/// r as a pair.
std::pair<Rounded, Pair> reduceExponent(Pair x);
/// e^r - 1 for |r| <= ln(2) / 2 and 2^r for |r| <= 1/2.
Float expm1OfReduced(Float r);
Float expm1OfReduced(Pair r);
Float exp2OfReduced(Float r);

// ExpandMathLog.cpp
Float expandLog(Float x);
Float expandLog2(Float x);
Float expandLog10(Float x);
Float expandLog1p(Float x);
Float expandAsinh(Float x);
Float expandAcosh(Float x);
Float expandAtanh(Float x);

/// x = 2^exponent (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for a normal x > 0.
struct SplitFloat {
  Float exponent, f;
};
SplitFloat splitFloat(Float x);

// ExpandMathTrig.cpp
Float expandSin(Float x);
Float expandCos(Float x);
Float expandTan(Float x);
std::pair<Float, Float> expandSincos(Float x);

// ExpandMathArc.cpp
Float expandAsin(Float x);
Float expandAcos(Float x);
Float expandAtan(Float x);
Float expandAtan2(Float y, Float x);

// ExpandMathErf.cpp
Float expandErf(Float x);
Float expandErfc(Float x);

// ExpandMathPow.cpp
Float expandPow(Float x, Float y);
Float expandCbrt(Float x);
Float expandRsqrt(Float x);

} // namespace nereid::tile::expand

#endif // NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHFUNCTIONS_H
