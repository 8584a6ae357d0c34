//===- AlignedRows.h - Operands that an engine can copy --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine of a GPU copies boxes of matrices whose rows begin at multiples of
// 16 bytes. A product of others, rows of 3001 halves say, would load element by
// element, which takes longer than a copy to longer rows and a product of that
// (docs/decisions/ProductBlocks.md).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_ALIGNEDROWS_H
#define NEREID_KERNELS_LINEAR_ALIGNEDROWS_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

/// Launches tell a kernel which of its numbers are multiples of this.
inline constexpr int64_t seenMultiples = 16;

/// Do the rows of matrices [B, R, C] run along R in memory, as those of a
/// transposed matrix do?
bool runAlongFirst(const Tensor &matrices);

/// Elements of neighbouring rows, from which all strides but that of 1 are
/// whole: seenMultiples, or as many as 16 bytes hold. 0: none, or the address
/// is no multiple of 16.
int64_t unitOfRows(const Tensor &matrices);

/// The same values with rows that begin at multiples of 128 bytes, and run
/// along R where `alongFirst`; matrices that repeat (stride 0) are copied once.
Tensor withAlignedRows(const Tensor &matrices, bool alongFirst);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_ALIGNEDROWS_H
