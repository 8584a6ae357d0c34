//===- reference.h - Embedding in double precision -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EMBEDDING_REFERENCE_H
#define NEREID_KERNELS_EMBEDDING_REFERENCE_H

#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

inline Values embedding(const Values &indices, const Values &weight,
                        size_t columns) {
  Values y;
  for (double index : indices) {
    for (size_t j = 0; j < columns; ++j) {
      y.push_back(weight[size_t(index) * columns + j]);
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_EMBEDDING_REFERENCE_H
