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
#include "nereid/Runtime/Tensor.h"

#include <algorithm>

namespace nereid::kernels {

/// Into how many parts a reduction of `length` is split, so that there are
/// programs enough where few are taken.
inline int64_t partsOf(int64_t length, int64_t results, int64_t leastPart,
                       Device device) {
  int64_t wanted = device.isHost() ? 64 : 4 * numbersOf(device).processors;
  int64_t parts = std::min(cdiv(wanted, std::max<int64_t>(results, 1)),
                           cdiv(length, leastPart));
  return std::clamp<int64_t>(parts, 1, 1024);
}

/// How programs go over x [A, R, B], contiguous, that is reduced over R
/// (reduce.py).
struct ReducePrograms {
  /// `outerElements`: of a block where B is not 1. `isFixed`: the blocks that
  /// ahead.txt has, whatever the sizes are.
  ReducePrograms(const Tensor &x, int64_t outerElements, bool isFixed = false) {
    int64_t a = x.size(0), r = x.size(1), b = x.size(2);
    auto block = [&](int64_t size, int64_t most) {
      return isFixed ? most : std::min<int64_t>(nextPowerOf2(size), most);
    };
    isInner = b == 1;
    if (isInner) {
      width = block(r, 1024);
      height = std::max<int64_t>(2048 / width, 1);
      parts = partsOf(r, cdiv(a, height), 4096, x.device());
      part = cdiv(cdiv(r, parts), width) * width;
    } else {
      width = block(b, 256);
      height = block(r, std::max<int64_t>(outerElements / width, 1));
      blocks = cdiv(b, width);
      parts = partsOf(r, a * blocks, 64, x.device());
      part = cdiv(cdiv(r, parts), height) * height;
    }
    parts = cdiv(r, part);
  }

  bool isInner = true;
  int64_t width = 1, height = 1; ///< of a block: columns, rows
  int64_t parts = 1, part = 1;   ///< of R: their number, the length of one
  int64_t blocks = 1;            ///< of the columns, where B is not 1
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_REDUCE_PARTS_H
