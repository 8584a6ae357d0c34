//===- reference.h - Sums over dimensions in double precision --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_REDUCE_REFERENCE_H
#define NEREID_KERNELS_REDUCE_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// Where element `index` of a tensor of sizes `from` comes from, or goes to,
/// in one of sizes `to` that broadcasts to it; both row-major.
inline size_t broadcastIndex(size_t index, const std::vector<int64_t> &from,
                             const std::vector<int64_t> &to) {
  size_t result = 0, stride = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    auto size = size_t(from[from.size() - 1 - i]);
    auto own = size_t(to[to.size() - 1 - i]);
    result += own == 1 ? 0 : index % size * stride;
    stride *= own;
    index /= size;
  }
  return result;
}

inline Numbers sumTo(const Numbers &x, const std::vector<int64_t> &from,
                     const std::vector<int64_t> &to) {
  size_t count = 1;
  for (int64_t size : to) {
    count *= size_t(size);
  }
  std::vector<Sum> sums(count);
  for (size_t i = 0; i < x.size(); ++i) {
    sums[broadcastIndex(i, from, to)].add(x[i]);
  }
  Numbers result;
  for (const Sum &sum : sums) {
    result.push_back(sum.total());
  }
  return result;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_REDUCE_REFERENCE_H
