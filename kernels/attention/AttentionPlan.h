//===- AttentionPlan.h - Blocks, warps and stages --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ATTENTION_ATTENTIONPLAN_H
#define NEREID_KERNELS_ATTENTION_ATTENTIONPLAN_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

/// Queries and keys of a program's blocks.
struct AttentionPlan {
  int64_t queries = 0, keys = 0;
  int warps = 4, stages = 2;
  bool hasRoles = false; ///< warps of their own copy (docs/Schedules.md)
};

/// What decides whether a kernel has roles of warps.
struct AttentionRoles {
  bool isMapped = false;  ///< an engine can copy blocks of all operands
  bool isBounded = false; ///< queries do not see all keys
  int64_t heads = 0;      ///< of all sequences: programs of a block of queries
};

AttentionPlan planAttention(int64_t headSize, int64_t queries, int64_t keys,
                            DType dtype, bool tf32, Device device,
                            const AttentionRoles &roles);
/// Of the gradients of keys and values, whose program keeps a block of those.
AttentionPlan planKeysBackward(int64_t headSize, int64_t queries, int64_t keys,
                               DType dtype, bool tf32, Device device);
/// Where products are three of tf32: is that kernel's, too? It holds four
/// blocks of sums, which fill the registers where heads are larger.
inline bool splitsKeysBackward(int64_t headSize) { return headSize <= 64; }
/// For the gradients of queries, whose program keeps a block of those.
AttentionPlan planQueriesBackward(int64_t headSize, int64_t queries,
                                  int64_t keys, DType dtype, bool tf32,
                                  Device device, const AttentionRoles &roles);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ATTENTION_ATTENTIONPLAN_H
