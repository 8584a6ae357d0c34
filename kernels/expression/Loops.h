//===- Loops.h - How a kernel goes over an expression -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Neighbouring dimensions that all tensors step through as one are one. What is
// left decides:
//
//   one dimension    programs take blocks of it
//   more             programs take tiles: columns are the last dimension, rows
//                    all others as one, whose index is divided where a tensor
//                    needs them apart. Where a tensor has its neighbours along
//                    another dimension (a transposed one), rows are that
//                    dimension, so that both it and the result are read in
//                    pieces; the rest is divided once a program.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_LOOPS_H
#define NEREID_KERNELS_EXPRESSION_LOOPS_H

#include "nereid/Runtime/Tensor.h"

#include <span>

namespace nereid::kernels::expression {

struct Loops {
  std::vector<int64_t> sizes; ///< of the merged dimensions; one at least
  /// By tensor and dimension, in elements; 0 where it is broadcast.
  std::vector<std::vector<int64_t>> strides;
  /// Tiles of this dimension and the last; -1: of all others and the last.
  int rowDimension = -1;
  bool wide = false; ///< some offset takes 64 bits

  bool isFlat() const { return sizes.size() == 1; }
  int last() const { return int(sizes.size()) - 1; }
  int64_t columns() const { return sizes.back(); }
  int64_t rows() const;
  int64_t batches() const; ///< of tiles
  bool isOfRows(int dimension) const {
    return dimension != last() &&
           (rowDimension < 0 || dimension == rowDimension);
  }
  /// One stride for the rows of tensor `t`, where their index need not be
  /// divided.
  std::optional<int64_t> strideOfRows(size_t t) const;
};

/// `tensors` are broadcast to `shape`; the results are row-major.
Loops planLoops(const Shape &shape, std::span<const Tensor> tensors);

} // namespace nereid::kernels::expression

#endif // NEREID_KERNELS_EXPRESSION_LOOPS_H
