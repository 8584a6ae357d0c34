//===- AttentionPlan.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/AttentionPlan.h"

#include <algorithm>
#include <bit>

using namespace nereid;
using namespace nereid::kernels;

/// Few sizes, since each is compiled.
static int64_t atMost(int64_t block, int64_t size) {
  return std::min<int64_t>(
      block,
      size <= 1 ? 1 : std::max<int64_t>(std::bit_ceil(uint64_t(size)), 16));
}

static AttentionPlan planOfHost(int64_t queries, int64_t keys) {
  return {atMost(64, queries), atMost(128, keys), 4, 1};
}

/// Do products read their operands exactly, without a GPU's units for them?
static bool isExact(DType dtype, bool tf32) { return dtype == f32 && !tf32; }

// Of GPUs: the blocks with which ptxas spills nothing on sm_90a, but for
// gradients of keys of head sizes beyond 64 (64 bytes) and 128.

AttentionPlan kernels::planAttention(int64_t headSize, int64_t queries,
                                     int64_t keys, DType dtype, bool tf32,
                                     Device device) {
  if (device.isHost()) {
    return planOfHost(queries, keys);
  }
  if (isExact(dtype, tf32)) {
    return {32, 32, headSize > 128 ? 8 : 4, 1};
  }
  if (dtype == f32) {
    return {64, 32, headSize > 64 ? 8 : 4, 2};
  }
  // Measured on an H200 (docs/BENCHMARKS-GPU.md, "Products"). Of head sizes
  // beyond 128, two blocks of keys and values fit 100 KiB of shared memory.
  return {64, headSize > 128 ? 32 : 64, 4, 2};
}

AttentionPlan kernels::planKeysBackward(int64_t headSize, int64_t queries,
                                        int64_t keys, DType dtype, bool tf32,
                                        Device device) {
  if (device.isHost()) {
    return planOfHost(queries, keys);
  }
  if (isExact(dtype, tf32)) {
    return headSize > 128 ? AttentionPlan{16, 16, 8, 1}
                          : AttentionPlan{32, 32, 8, 1};
  }
  if (headSize > 128) {
    return {32, 32, 8, 1};
  }
  if (dtype == f32) {
    return {32, 32, 8, 1};
  }
  return headSize > 64 ? AttentionPlan{32, 128, 8, 1}
                       : AttentionPlan{64, 64, 4, 2};
}

AttentionPlan kernels::planQueriesBackward(int64_t headSize, int64_t queries,
                                           int64_t keys, DType dtype, bool tf32,
                                           Device device) {
  if (device.isHost()) {
    return planOfHost(queries, keys);
  }
  if (isExact(dtype, tf32)) {
    return {32, 16, headSize > 64 ? 8 : 4, 1};
  }
  if (dtype == f32) {
    return {32, 32, 8, 1};
  }
  if (headSize > 128) {
    return {64, 16, 4, 1};
  }
  return headSize > 64 ? AttentionPlan{128, 64, 8, 2}
                       : AttentionPlan{64, 64, 4, 2};
}
