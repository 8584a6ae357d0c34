//===- Embedding.h - Rows of a table, forward and backward -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      y[t] = weight[indices[t]]; dweight[v] = the sum of dy[t] over
//               all t with indices[t] = v
// Shapes:       indices [...]; weight [V, N]; y [..., N]
// Types:        indices of i32, i64; weight of fp32, fp16, bf16, fp64, which y
//               has, too; sums fp32, of fp64 fp64
// Gradients:    weight
// Memory:       the backward writes all of dweight, reads dy once, and needs
// two
//               int32 for each index and each row of the table. A GPU compares
//               65536 indices at a time with each other, a host sorts them; one
//               program sums a row, up to 16 where rows are few
// Determinism:  the same bits in each run on one device: each row is summed
// from
//               its first index to its last
// Source:       a stable sort by counting (Knuth, The Art of Computer
//               Programming, volume 3, 5.2)
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EMBEDDING_EMBEDDING_H
#define NEREID_KERNELS_EMBEDDING_EMBEDDING_H

#include "nereid/Autograd/Variable.h"

#include <optional>

namespace nereid::kernels {

/// Indices on a host device that the table lacks are refused; on a GPU their
/// rows of y are NaN, and their gradients go nowhere. `padding`: a row of the
/// table whose gradient is 0, as PyTorch's padding_idx: negative, from the end.
Tensor embedding(const Tensor &indices, const Tensor &weight);
Variable embedding(const Tensor &indices, const Variable &weight,
                   std::optional<int64_t> padding = {});

/// The gradient of a table of `rows` rows.
Tensor embeddingBackward(const Tensor &dy, const Tensor &indices, int64_t rows,
                         std::optional<int64_t> padding = {});

} // namespace nereid::kernels

#endif // NEREID_KERNELS_EMBEDDING_EMBEDDING_H
