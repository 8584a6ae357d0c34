//===- LongRows.h - Norms of few long rows ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LAYER_NORM_LONGROWS_H
#define NEREID_KERNELS_LAYER_NORM_LONGROWS_H

#include "kernels/operator/Rows.h"

namespace nereid::kernels {

/// dx of layer norm, or of RMS norm where `mean` is undefined, whose rows are
/// shared by programs. `dx` is row-major; `w`: undefined for 1.
void normBackwardInParts(const Tensor &dx, const Rows &dy, const Rows &x,
                         const Tensor &w, const Tensor &mean,
                         const Tensor &rstd, const RowParts &parts);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LAYER_NORM_LONGROWS_H
