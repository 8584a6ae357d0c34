//===- PackedSequences.h - Sequences after each other -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ATTENTION_PACKEDSEQUENCES_H
#define NEREID_KERNELS_ATTENTION_PACKEDSEQUENCES_H

#include "kernels/attention/Attention.h"
#include "kernels/operator/OperatorKernel.h"

#include <algorithm>
#include <functional>

namespace nereid::kernels {

/// The starts in `options`, if there are any: q [1, H, Tq, D], k [1, G, Tk, D].
void checkPackedSequences(const char *op, const Tensor &q, const Tensor &k,
                          const AttentionOptions &options);

/// As kernels take them; of options without starts, one sequence.
struct PackedSequences {
  explicit PackedSequences(const AttentionOptions &options);

  Argument count() const {
    return queryStarts.defined() ? Argument(sequences) : Argument(none);
  }
  /// At most, of `block` rows each, of sequences that have `total` rows.
  int64_t blocks(int64_t total, int64_t block) const {
    return queryStarts.defined() ? total / block + sequences
                                 : cdiv(total, block);
  }
  /// The length of a sequence, as blocks are chosen for.
  int64_t length(int64_t total) const { return cdiv(total, sequences); }

  Tensor queryStarts, keyStarts; ///< i32, row-major; or undefined
  int64_t sequences = 1;
};

/// One of them.
struct Sequence {
  Tensor queriesOf(const Tensor &t) const {
    return t.slice(2, firstQuery, lastQuery);
  }
  Tensor keysOf(const Tensor &t) const { return t.slice(2, firstKey, lastKey); }

  AttentionOptions options; ///< without starts
  int64_t firstQuery, lastQuery, firstKey, lastKey;
};

/// Waits for the device that has the starts.
void forEachSequence(const AttentionOptions &options,
                     const std::function<void(const Sequence &)> &one);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ATTENTION_PACKEDSEQUENCES_H
