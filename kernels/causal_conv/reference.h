//===- reference.h - Short convolutions in double precision -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_CAUSAL_CONV_REFERENCE_H
#define NEREID_KERNELS_CAUSAL_CONV_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// x [.., steps, channels], w [channels, taps]; `bias` may be empty.
inline Numbers causalConv(const Numbers &x, const Numbers &w,
                          const Numbers &bias, size_t steps, size_t channels) {
  size_t taps = w.size() / channels;
  Numbers y;
  for (size_t i = 0; i < x.size(); ++i) {
    size_t t = i / channels % steps, channel = i % channels;
    Sum sum;
    if (!bias.empty()) {
      sum.add(bias[channel]);
    }
    for (size_t back = 0; back < std::min(taps, t + 1); ++back) {
      sum.addProduct(w[channel * taps + taps - 1 - back],
                     x[i - back * channels]);
    }
    y.push_back(sum.total());
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_CAUSAL_CONV_REFERENCE_H
