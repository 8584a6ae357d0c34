//===- ProductPlans.h - Every way to cut a product --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For bench/operators/product_plans.py, which times all that kernels/linear
// chooses from and compares what it has chosen with the fastest.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_OPERATORS_PRODUCTPLANS_H
#define NEREID_BENCH_OPERATORS_PRODUCTPLANS_H

#include "bench/operators/Adapters.h"

namespace nereid::bench {

/// a @ b; numbers: blocks of m, n and k, warps, stages, splits, roles (0 or 1),
/// rows.
Outputs plannedMatmul(const Inputs &in, const Numbers &numbers);

} // namespace nereid::bench

extern "C" {
/// Lines of "m n k warps stages splits roles rows nanoseconds": the plan that
/// is chosen, then all that there are without rows, for a product of `type` (a
/// short name) on `device`, with their estimates. Valid until the next call of
/// the thread.
const char *nereidProductPlans(const char *device, const char *type, int64_t m,
                               int64_t n, int64_t k, int32_t isTransposed);
}

#endif // NEREID_BENCH_OPERATORS_PRODUCTPLANS_H
