//===- Decoding.h - Attention of one token over a cache ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      softmax(scale * q @ k^T) @ v over the first `length` keys of
//               each sequence
// Shapes:       q [B, H, D], k and v [B, G, capacity, D], where G divides H;
//               lengths [B] on the same device; D from 1 to 256; any strides.
//               Of pages: k and v [pages, G, page, D] and a table [B, n], whose
//               n pages a sequence are the capacity
// Types:        fp32, fp16, bf16, all of one; lengths and table i32 or i64;
// sums and
//               exponentials fp32
// Gradients:    none
// Memory:       each key and value is read once for all heads that share it;
//               with splits, D + 1 floats for each head and split
// Determinism:  the same bits in each run on one device; no atomics
// Source:       splits of keys: Dao et al., "Flash-Decoding for long-context
//               inference", 2023
//
// The number of splits follows from shapes alone: a launch can be captured in a
// graph while lengths grow. A length beyond the capacity counts as that, one
// below 0 as 0. A sequence without keys has the result 0.
//
// A table of pages lets sequences grow without moving what they have: key j of
// sequence b is row j % page of the page table[b, j / page]. Sequences may
// share pages. Keys of a page that does not exist (-1, say) are not seen.
//
// decodeNext takes a token whose key and value are not in the cache: it attends
// to what the cache has of its sequence and to itself, and one launch does both
// that and the writing.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_DECODING_DECODING_H
#define NEREID_KERNELS_DECODING_DECODING_H

#include "nereid/Runtime/Tensor.h"

#include <optional>

namespace nereid::kernels {

struct DecodingOptions {
  /// If more than 0: that many of the last keys alone.
  int64_t window = 0;
  std::optional<double> scale; ///< more than 0; 1 / sqrt(D) when absent
  /// Programs that share the keys of a sequence: a power of two to 64; chosen
  /// by the device when absent.
  std::optional<int64_t> splits;
  /// The table of caches in pages; undefined: each sequence has its keys in one
  /// piece.
  Tensor table = {};
};

/// [B, H, D]. The token of `q` has its own key and value in the cache already.
Tensor decoding(const Tensor &q, const Tensor &k, const Tensor &v,
                const Tensor &lengths, const DecodingOptions &options = {});

/// A token's own: [B, G, D], of the same strides.
struct KeyAndValue {
  Tensor k, v;
};

/// [B, H, D]. `own` is written into the caches after the first `lengths` keys,
/// and left out there where the cache is full. `options.window` counts it.
Tensor decodeNext(const Tensor &q, const KeyAndValue &own, const Tensor &k,
                  const Tensor &v, const Tensor &lengths,
                  const DecodingOptions &options = {});

/// linear(decodeNext(...), weight, bias): [B, N] of weight [N, H * D] and bias
/// [N] or undefined. `weight` has q's type. Of one sequence on a GPU, up to 8
/// splits of keys are combined by the product's launch.
Tensor decodeNextLinear(const Tensor &q, const KeyAndValue &own,
                        const Tensor &k, const Tensor &v, const Tensor &lengths,
                        const Tensor &weight, const Tensor &bias = {},
                        const DecodingOptions &options = {});

} // namespace nereid::kernels

#endif // NEREID_KERNELS_DECODING_DECODING_H
