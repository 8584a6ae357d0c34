//===- Symmetry.h - Combinations whose operands may change places -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes of a warp that exchange partial results each combine their own with
// another's. They get the same bits only if f(a, b) and f(b, a) are the same,
// which a reduction's author promises but may not keep: a region that prefers
// the greater of two does not say which of two NaNs it takes. A branch on such
// a result would part the lanes, and the next barrier would wait for ever.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_SYMMETRY_H
#define NEREID_ANALYSIS_SYMMETRY_H

#include "mlir/IR/Region.h"

namespace nereid {

/// Does the region of a reduction compute the same, operation by operation,
/// when its first n arguments and its last n change places? False where that
/// takes more to see than that operations are commutative. n log n of the
/// region's size.
bool isSymmetric(mlir::Region &combine);

} // namespace nereid

#endif // NEREID_ANALYSIS_SYMMETRY_H
