//===- reference.h - Rotary embedding in double precision ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ROTARY_REFERENCE_H
#define NEREID_KERNELS_ROTARY_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// x [batches, positions, heads, 2 * half + rest].
inline Numbers rotary(const Numbers &x, const Numbers &cos, const Numbers &sin,
                      size_t positions, size_t heads, size_t half,
                      bool interleaved, size_t rest = 0) {
  Numbers y = x;
  size_t size = 2 * half + rest;
  for (size_t row = 0; row < x.size() / size; ++row) {
    size_t angles = row / heads % positions * half;
    for (size_t i = 0; i < half; ++i) {
      size_t a = row * size + (interleaved ? 2 * i : i);
      size_t b = interleaved ? a + 1 : a + half;
      y[a] = x[a] * cos[angles + i] - x[b] * sin[angles + i];
      y[b] = x[b] * cos[angles + i] + x[a] * sin[angles + i];
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_ROTARY_REFERENCE_H
