//===- ColumnSums.h - The second half of sums over rows ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_COLUMNSUMS_H
#define NEREID_KERNELS_OPERATOR_COLUMNSUMS_H

#include "nereid/Runtime/Tensor.h"

#include <utility>

namespace nereid::kernels {

/// sum[j] over i of parts[i, j]: row-major fp32, where each program of a kernel
/// has summed up one row (programsForSums). Not empty.
Tensor columnSums(const Tensor &parts, DType dtype);

/// Those of two such tensors of one shape, in one launch where both types are
/// the same. An undefined one has an undefined sum.
std::pair<Tensor, Tensor> columnSums(const Tensor &first, DType firstType,
                                     const Tensor &second, DType secondType);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_COLUMNSUMS_H
