//===- FewRowsPlan.h - Blocks of products of few rows on GPUs --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_FEWROWSPLAN_H
#define NEREID_KERNELS_LINEAR_FEWROWSPLAN_H

#include "nereid/ABI/DType.h"

#include <cstdint>

namespace nereid::kernels {

/// A program of `warps` warps has `columns` columns of the weight. `lanes`
/// lanes share a column: `width` elements each at once, `parts` times.
struct FewRowsPlan {
  int64_t columns, parts, lanes, width, warps;

  /// Elements of a column that the program has in registers.
  int64_t elements() const { return parts * lanes * width; }
};

/// A plan for a weight [n, k] and this number of rows: 16 bytes an access.
/// `elements()` is at least k, or the program goes over k in turns.
FewRowsPlan planFewRows(int64_t rows, int64_t n, int64_t k, DType type);

/// Bounds a thread's registers for the assembler, which without a bound reads
/// less ahead to fit more programs on a multiprocessor. Of several rows it
/// would read so much ahead that half as many fit
/// (docs/Training.md, Sampling).
constexpr int64_t registersOfRows(int64_t rows) { return rows > 1 ? 168 : 255; }

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_FEWROWSPLAN_H
