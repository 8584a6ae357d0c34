//===- Parts.h - How many programs share a reduction ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_REDUCE_PARTS_H
#define NEREID_KERNELS_REDUCE_PARTS_H

#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Kernel.h"

#include <algorithm>

namespace nereid::kernels {

/// Into how many parts a reduction of `length` is split, so that there are
/// programs enough where few are taken.
inline int64_t partsOf(int64_t length, int64_t results, int64_t leastPart,
                       Device device) {
  int64_t wanted = device.isHost() ? 64 : 4 * properties(device).processors;
  int64_t parts = std::min(cdiv(wanted, std::max<int64_t>(results, 1)),
                           cdiv(length, leastPart));
  return std::clamp<int64_t>(parts, 1, 1024);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_REDUCE_PARTS_H
