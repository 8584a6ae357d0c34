//===- Transformer.h - A model of operators, on a tape ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_OPERATORS_TRANSFORMER_H
#define NEREID_BENCH_OPERATORS_TRANSFORMER_H

#include "bench/operators/Adapters.h"

namespace nereid::bench {

/// The loss of a decoder in GPT-2's form, whose last layer shares the table of
/// words. `in`: tokens [B, T], targets [B * T], words [V, C], places [T, C];
/// for each layer the weights and biases of norm, qkv [3 C, C], projection
/// [C, C], norm, [4 C, C], [C, 4 C]; those of the last norm. `numbers`: heads,
/// layers.
Outputs transformer(const Inputs &in, const Numbers &numbers);

} // namespace nereid::bench

#endif // NEREID_BENCH_OPERATORS_TRANSFORMER_H
