//===- AttentionPlan.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/AttentionPlan.h"

#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Precision.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Grid.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;

/// Blocks of one size that hold `size` with few elements to spare, at most
/// `most` each: 77 of at most 64 are two of 40. Multiples of `step`, since each
/// block is compiled.
static int64_t evenBlock(int64_t most, int64_t size, int64_t step) {
  if (size <= 1) {
    return 1;
  }
  int64_t each = cdiv(size, cdiv(size, most));
  return std::min(most, cdiv(each, step) * step);
}

namespace {

/// The products of a program: exact (fp32 without a GPU's units for products),
/// by three of tf32, tf32, or of two-byte operands.
enum class Operands { Exact, Split, Tf32, Halves };

} // namespace

/// `onGpu(operands)` is the plan of a GPU. The blocks of ahead.txt are the
/// same, on 8 warps.
template <typename OnGpu>
static AttentionPlan plan(int64_t headSize, int64_t queries, int64_t keys,
                          DType dtype, bool tf32, Device device, OnGpu onGpu) {
  if (device.isHost()) {
    if (!hasCompiler()) {
      return {64, 128, 4, 1}; // as ahead.txt has it
    }
    return {evenBlock(64, queries, 8), evenBlock(128, keys, 16), 4, 1};
  }
  if (dtype != f32) {
    return onGpu(Operands::Halves);
  }
  switch (precisionOfAttention(dtype, tf32, device, headSize, keys)) {
  case Precision::Exact:
    return onGpu(Operands::Exact);
  case Precision::Split:
    return onGpu(Operands::Split);
  case Precision::Tf32:
    return onGpu(Operands::Tf32);
  }
  __builtin_unreachable();
}

// Of GPUs: the blocks with which ptxas spills nothing on sm_90a, but for
// gradients of keys of head sizes beyond 64 (48 bytes) and 128.

AttentionPlan kernels::planAttention(int64_t headSize, int64_t queries,
                                     int64_t keys, DType dtype, bool tf32,
                                     Device device,
                                     const AttentionRoles &roles) {
  auto onGpu = [&](Operands operands) -> AttentionPlan {
    switch (operands) {
    case Operands::Exact:
      return {32, 32, headSize > 128 ? 8 : 4, 1};
    case Operands::Split:
    case Operands::Tf32:
      return {64, 32, headSize > 64 ? 8 : 4, 2};
    case Operands::Halves:
      break;
    }
    // The fastest measured (docs/BENCHMARKS-GPU.md, "Products"). Blocks of 128
    // queries have a processor each, which pays where there are enough of them.
    if (roles.isMapped && headSize == 128 &&
        roles.heads * cdiv(queries, 128) >= numbersOf(device).processors) {
      return {128, 128, 8, 2, true};
    }
    if (roles.isMapped && headSize == 64 && !roles.isBounded) {
      return {64, 128, 4, 2, true};
    }
    // Of head sizes beyond 128, two blocks of keys and values fit 100 KiB of
    // shared memory.
    return {64, headSize > 128 ? 32 : 64, 4, 2};
  };
  return plan(headSize, queries, keys, dtype, tf32, device, onGpu);
}

AttentionPlan kernels::planKeysBackward(int64_t headSize, int64_t queries,
                                        int64_t keys, DType dtype, bool tf32,
                                        Device device) {
  auto onGpu = [&](Operands operands) -> AttentionPlan {
    if (operands == Operands::Split && splitsKeysBackward(headSize)) {
      return {32, 64, 8, 1};
    }
    operands = operands == Operands::Split ? Operands::Exact : operands;
    if (operands == Operands::Exact && headSize > 128) {
      return {16, 16, 8, 1};
    }
    if (operands != Operands::Halves || headSize > 128) {
      return {32, 32, 8, 1};
    }
    return {64, 64, 4, 2};
  };
  return plan(headSize, queries, keys, dtype, tf32, device, onGpu);
}

AttentionPlan kernels::planQueriesBackward(int64_t headSize, int64_t queries,
                                           int64_t keys, DType dtype, bool tf32,
                                           Device device,
                                           const AttentionRoles &roles) {
  auto onGpu = [&](Operands operands) -> AttentionPlan {
    switch (operands) {
    case Operands::Exact:
      return {32, 16, headSize > 64 ? 8 : 4, 1};
    case Operands::Split:
      return {64, 32, headSize > 64 ? 8 : 4, 2};
    case Operands::Tf32:
      return {32, 32, 8, 1};
    case Operands::Halves:
      break;
    }
    if (headSize > 128) {
      return {64, 16, 4, 1};
    }
    if (roles.isMapped && headSize == 128) {
      return {128, 64, 8, 2, true};
    }
    if (roles.isMapped && headSize == 64) {
      return {64, 128, 4, 2, true};
    }
    return headSize > 64 && hasCompiler() ? AttentionPlan{128, 64, 8, 2}
                                          : AttentionPlan{64, 64, 4, 2};
  };
  return plan(headSize, queries, keys, dtype, tf32, device, onGpu);
}
