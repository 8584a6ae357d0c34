//===- SelectiveScan.h - State spaces, with gradients -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      h[t] = exp(dt[t] * a) * h[t - 1] + dt[t] * b[t] * x[t]; y[t] =
//               the sum over states of c[t] * h[t], + d * x[t]
// Shapes:       x, dt [B, T, D]; a [D, N]; b, c [B, T, N], those of all
//               channels; d [D] or undefined; y as x, row-major; N to 256
// Types:        fp32, fp16, bf16, each its own; y has x's; arithmetic and
//               states fp32. Of x of fp64, all is, but for `state`
// Gradients:    x, dt, a, b, c, d
// Memory:       a state is in registers; the tape keeps one of 16 steps, and
//               the backward computes those in between again. Gradients of b
//               and c are summed from D / channels of a program parts in fp32
// Determinism:  the same bits in each run on one device; no atomics
// Source:       Gu, Dao, "Mamba", arXiv 2312.00752; scans as associative pairs:
//               Blelloch, "Prefix sums and their applications", 1990
//
// What a model does around it are expressions: `softplus` in front of dt,
// -exp(..) of a, `silu` of a gate. A program takes a few channels of a sequence
// along all of its time.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SELECTIVE_SCAN_SELECTIVESCAN_H
#define NEREID_KERNELS_SELECTIVE_SCAN_SELECTIVESCAN_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

/// `state` [B, D, N] fp32, row-major: what the sequences go on from; it becomes
/// what they end with. Undefined: 0. So a sequence can be read in pieces, or a
/// step at a time.
Tensor selectiveScan(const Tensor &x, const Tensor &dt, const Tensor &a,
                     const Tensor &b, const Tensor &c, const Tensor &d = {},
                     const Tensor &state = {});
/// From a state of 0.
Variable selectiveScan(const Variable &x, const Variable &dt, const Variable &a,
                       const Variable &b, const Variable &c,
                       const Variable &d = {});
template <typename X, typename T, typename A, typename B, typename C,
          typename D = Variable>
  requires WithExpression<X, T, A, B, C, D>
Expression selectiveScan(const X &x, const T &dt, const A &a, const B &b,
                         const C &c, const D &d = {}) {
  return selectiveScan(asVariable(x), asVariable(dt), asVariable(a),
                       asVariable(b), asVariable(c), asVariable(d));
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_SELECTIVE_SCAN_SELECTIVESCAN_H
