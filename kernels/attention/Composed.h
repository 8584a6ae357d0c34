//===- Composed.h - Attention as two products -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ATTENTION_COMPOSED_H
#define NEREID_KERNELS_ATTENTION_COMPOSED_H

#include "kernels/attention/Attention.h"

namespace nereid::kernels {

void checkAttention(const char *op, const Tensor &q, const Tensor &k,
                    const Tensor &v, const AttentionOptions &options,
                    bool takesDoubles = false);
/// A defined one.
void checkAttentionBias(const char *op, const Tensor &q, const Tensor &k,
                        const Tensor &bias);

/// Two products with a softmax between them, which hold all scores: of fp64,
/// and with a bias where no kernel was compiled for that. `bias` or that of the
/// options is undefined.
Variable attentionComposed(const Variable &q, const Variable &k,
                           const Variable &v, const Variable &bias,
                           const AttentionOptions &options);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ATTENTION_COMPOSED_H
