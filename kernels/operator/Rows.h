//===- Rows.h - Operators over the last dimension ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_ROWS_H
#define NEREID_KERNELS_OPERATOR_ROWS_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

/// A tensor [..., N] as `count` rows of `columns` neighbours, `stride` elements
/// apart. `tensor` is the one that was given where its dimensions in front can
/// be one with one stride; else a row-major copy.
struct Rows {
  Tensor tensor;
  int64_t count = 0, columns = 0, stride = 0;
};

/// Rank 1 or more.
Rows rowsOf(const Tensor &tensor);

/// How a kernel over rows is launched.
struct RowPlan {
  int64_t rowsOfProgram = 1;
  int warps = 4;
  /// The row does not fit a program's registers (or no block of its size was
  /// compiled): the kernel goes over it in blocks.
  bool loops = false;
};

/// For rows of `columns` elements, of `elementBytes` in memory, whose programs
/// keep `kept` values an element in registers. A thread moves 32 bytes at once,
/// and short rows share a program until that has 4 KiB: measured
/// (docs/BENCHMARKS-GPU.md, "chosen").
RowPlan planRows(int64_t columns, int64_t elementBytes, Device device,
                 int kept = 1);

/// Pieces of rows of many columns.
struct RowParts {
  int64_t count = 1;
  int64_t columns = 0; ///< of each but the last; of several, whole blocks
};

/// Where rows that are gone over in blocks are too few for a GPU's processors,
/// pieces that programs of their own sum up; else, and without a compiler, one.
RowParts partsOfRows(const Rows &rows, int64_t block, Device device);

/// Programs that sum up rows each, whose results are summed after: as many as
/// the device runs at once, and no more than there are rows. The same for
/// every number of threads of a host. `rowBytes`: what a program reads of a row
/// where it reads whole rows one after the other; of short ones more programs
/// have to be under way for a GPU's memory to be busy.
int64_t programsForSums(int64_t rows, Device device, int64_t rowBytes = 0);

/// Those beside each other take `blocks` blocks of columns: of a host so many
/// that all of them are 64.
int64_t programsForSumsOf(int64_t blocks, int64_t rows, Device device);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_ROWS_H
