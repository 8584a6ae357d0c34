//===- Oracle.h - How floats are computed, and what is proven about them --*-
// C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_ORACLE_H
#define NEREID_INTERP_ORACLE_H

#include "nereid/Interp/AccessLog.h"
#include "nereid/Interp/FloatFormat.h"

#include "mlir/IR/Location.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace nereid::interp {

enum class FloatMode {
  /// Every operation rounds to the element type it declares.
  Declared,
  /// Every operation is computed in double and not rounded; memory still holds
  /// the declared types.
  Float64,
  /// As Float64, and every value carries a running error bound: how far the
  /// value of any executor may lie from it that rounds each operation to the
  /// declared type or better, in any order a reduction may take (Wilkinson's
  /// running error analysis). Much slower.
  Float64WithBounds,
};

/// Other orders of a sum round differently, by about as much as the order that
/// was run: reductions and atomics allow this multiple of its running error.
inline constexpr double orderAllowance = 4;

/// What a stored float is, before it was rounded to memory.
struct FloatBound {
  double value = 0;
  /// |what an executor may store - value| <= error; infinity: no claim.
  double error = 0;
  /// Null: an integer without a claim.
  const FloatFormat *format = nullptr;
  unsigned bytes = 0; ///< in memory
  /// How often it was stored over, and the magnitudes that it moved by: a sum
  /// that programs take turns at may, in another order, round numbers as large.
  unsigned changes = 0;
  double travel = 0;

  /// What `changes` roundings of such numbers add up to.
  double orderError() const {
    return changes == 0 || !format ? 0
           : travel <= format->maxFinite
               ? (changes + 1) * spacing(*format, travel)
               : std::numeric_limits<double>::infinity();
  }
};

/// What a run in the mode Float64WithBounds found.
struct Oracle {
  /// By address, of every float stored, and of every integer stored that
  /// depends on a rounding. Another integer removes the entry.
  llvm::DenseMap<uint64_t, FloatBound> stored;
  /// Control flow or the place of a store hung on a comparison within its
  /// operands' errors: the run proves nothing.
  bool undecided = false;
  /// The program did what the dialect leaves undefined, or its result depends
  /// on an order that is free: the operation, or empty. Accesses outside of
  /// `log.arrays` are not made.
  std::string undefined;
  /// Set `log.arrays` to have accesses checked.
  AccessLog log;
  /// The first access outside of them.
  struct Access {
    mlir::Location place;
    uint64_t address = 0;
    unsigned bytes = 0;
    bool isWrite = false;
    int64_t program = 0;
  };
  std::optional<Access> outside;
  /// The first operation by which programs met at an address, so that the order
  /// of programs may show.
  std::optional<mlir::Location> meeting;
  /// May the executors to be judged read float32 operands of a product as TF32,
  /// where the kernel lets them? GPUs do.
  bool allowsTf32 = true;
  /// May they sum up products of fp8 in 14 bits? Instructions of Hopper's
  /// warpgroups do.
  bool allowsShortSums = true;
  /// The answer mattered.
  bool metTf32 = false;
  /// Is upstream Triton on a GPU to be judged? It is less exact than our
  /// executors where the language lets it: sqrt, rsqrt and divisions of float32
  /// by one approximate instruction, and sums of float16 in float16.
  bool judgesUpstream = false;
  /// Run the last program of the grid first.
  bool isBackward = false;
};

} // namespace nereid::interp

#endif // NEREID_INTERP_ORACLE_H
