//===- Copy.h - Strided and converting copies by one kernel ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_COPY_COPY_H
#define NEREID_KERNELS_COPY_COPY_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

/// `to` and `from` have one shape, one device, and at least one element. False:
/// these types have no kernel (ahead.txt), or more than four dimensions remain
/// where neighbours are merged.
bool copyByKernel(const Tensor &to, const Tensor &from);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_COPY_COPY_H
