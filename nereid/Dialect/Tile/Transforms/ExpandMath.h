//===- ExpandMath.h - Elementary functions as arithmetic --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces `math` operations on scalars and short vectors by additions,
// multiplications, FMAs and integer operations, so that a function costs the
// same a lane on every target and needs no library. docs/Math.md has the
// measured error and the cost of each.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATH_H
#define NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATH_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LogicalResult.h"

namespace nereid::tile {

/// What the target does in one instruction.
struct ExpandMathOptions {
  bool hasFma = true;
  /// AVX-512's vscalef: x * 2^n with correct overflow and denormals.
  bool hasScalef = false;
  /// There is no C library to call: arith.remf of scalars is expanded too.
  bool expandsRemainder = false;
};

/// Expands every `math` operation of f16, bf16, f32 or f64 scalars and vectors
/// under `root` (the narrow formats in f32); operations on tensors and those
/// that LLVM selects well (sqrt, fma, abs, rounding, copysign, isnan) are left.
/// The results are right for every input, special values as in C99 annex F;
/// rounding is to nearest, exceptions are not raised.
///
/// The new operations are `arith`, `vector`, `math.fma/absf/copysign/sqrt`,
/// and, for sin, cos and tan, an `scf.if` that holds the reduction of large
/// arguments. With hasScalef also `llvm.call_intrinsic`.
void expandMath(mlir::Operation *root, const ExpandMathOptions &options);

/// Makes the pass `tile-expand-math` known by name.
void registerExpandMathPass();

} // namespace nereid::tile

#endif // NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATH_H
