//===- AttentionChecks.h - What queries ask of keys, values -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_ATTENTIONCHECKS_H
#define NEREID_KERNELS_OPERATOR_ATTENTIONCHECKS_H

#include "kernels/operator/Checks.h"

namespace nereid::kernels {

/// `q` [batch, heads, ..., D] was checked to be floats of its rank; k and v are
/// [batch, kv heads, keys, D], where kv heads divide heads. `isPaged`: their
/// first dimension is another.
void checkKeysAndValues(Checks &checks, const Tensor &q, const Tensor &k,
                        const Tensor &v, int64_t window,
                        std::optional<double> scale, bool isPaged = false);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_ATTENTIONCHECKS_H
