//===- Experts.h - Mixtures of experts, with gradients ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      groupByExpert: the choices in the order of their experts;
//               dispatch: y[p] = x[order[p] / k]; groupedMatmul: y[i] = a[i] @
//               b[e], of the group e that row i is in; combine: y[t] = the sum
//               over j of weights[t, j] * x[places[t, j]]
// Shapes:       experts [T, k]; x of dispatch [T, N], of combine [T k, N]; a
//               [R, K], b [E, K, N], starts [E + 1]; any strides
// Types:        fp32, fp16, bf16, fp64, all of one (weights may be another);
//               experts and starts of i32 or i64; sums fp32 (of fp64 fp64),
//               exact unless `tf32` is asked for
// Gradients:    x; a, b; x, weights
// Memory:       three int32 for each choice and one for each expert; each
//               result once. A gradient of b is written whole; of an expert
//               without rows it is 0
// Determinism:  the same bits in each run on one device; no atomics. Rows of an
//               expert are in the order of their tokens
// Source:       blocks of rows that begin again with each expert: Gale et al.,
//               "MegaBlocks", arXiv 2211.15841
//
// A layer of experts; each token takes k of them:
//
//   auto [gates, experts] = topk(softmax(linear(x, router)), k);
//   Groups groups = groupByExpert(experts, count);
//   Variable rows = dispatch(x, groups);
//   Variable h = silu(groupedMatmul(rows, up, groups.starts));
//   Variable y = combine(groupedMatmul(h, down, groups.starts), gates, groups);
//
// No shape depends on what was chosen: nothing waits for a GPU, and a launch
// may be captured in a graph. A choice that is no expert (-1, say: a token
// beyond a capacity) has no row and adds nothing. A weight [E, N, K], as
// `linear` has it, is multiplied by as `weight.transpose(1, 2)`. Needs a
// compiler.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPERTS_EXPERTS_H
#define NEREID_KERNELS_EXPERTS_EXPERTS_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

/// T k choices, sorted by expert; equal ones keep their order. All i32.
struct Groups {
  /// [T k]: which choice, of experts as a line, each row is; -1 of rows after
  /// the last expert's.
  Tensor order;
  Tensor places; ///< [T, k]: the row of each choice; -1 of one of no expert
  Tensor starts; ///< [experts + 1]: where each expert's rows begin, and the end
};

/// `experts` [T, k], from 0 to `count` - 1.
Groups groupByExpert(const Tensor &experts, int64_t count);

/// [T k, N] of x [T, N]: the rows of the first expert, of the second ...; rows
/// after those of the last are 0.
Tensor dispatch(const Tensor &x, const Groups &groups);
Variable dispatch(const Variable &x, const Groups &groups);
inline Expression dispatch(const Expression &x, const Groups &groups) {
  return dispatch(x.variable(), groups);
}

/// [T, N] of x [T k, N]. `weights` [T, k], or undefined for sums.
Tensor combine(const Tensor &x, const Tensor &weights, const Groups &groups);
Variable combine(const Variable &x, const Variable &weights,
                 const Groups &groups);
template <typename X, typename W>
  requires WithExpression<X, W>
Expression combine(const X &x, const W &weights, const Groups &groups) {
  return combine(asVariable(x), asVariable(weights), groups);
}

/// [R, N]: rows starts[e] to starts[e + 1] of a [R, K], multiplied by b[e];
/// rows after the last group are 0. Starts ascend, from 0 to R at most: on a
/// host device others are refused, and on a GPU results are wrong and nothing
/// beyond the tensors is touched. `tf32`: on a GPU, operands of fp32 are read
/// as tf32.
Tensor groupedMatmul(const Tensor &a, const Tensor &b, const Tensor &starts,
                     bool tf32 = false);
Variable groupedMatmul(const Variable &a, const Variable &b,
                       const Tensor &starts, bool tf32 = false);
template <typename A, typename B>
  requires WithExpression<A, B>
Expression groupedMatmul(const A &a, const B &b, const Tensor &starts,
                         bool tf32 = false) {
  return groupedMatmul(asVariable(a), asVariable(b), starts, tf32);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_EXPERTS_EXPERTS_H
