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

#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

namespace nereid::kernels::expression {

struct Loops {
  explicit Loops(
      std::pmr::memory_resource *memory = std::pmr::get_default_resource())
      : sizes(memory), steps(memory) {}

  std::pmr::vector<int64_t> sizes; ///< of the merged dimensions; one at least
  /// By dimension and tensor, in elements; 0 where it is broadcast.
  std::pmr::vector<int64_t> steps;
  /// Tiles of this dimension and the last; -1: of all others and the last.
  int rowDimension = -1;
  bool wide = false; ///< some offset takes 64 bits

  size_t tensors() const { return steps.size() / sizes.size(); }
  int64_t stride(size_t tensor, size_t dimension) const {
    return steps[dimension * tensors() + tensor];
  }
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
void planLoops(Loops &loops, const Shape &shape,
               std::span<const Tensor *const> tensors);

} // namespace nereid::kernels::expression

#endif // NEREID_KERNELS_EXPRESSION_LOOPS_H
