//===- ProductPlan.cpp - Blocks, warps, stages and splits -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Product.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Grid.h"

#include <algorithm>
#include <cmath>
#include <span>

using namespace nereid;
using namespace nereid::kernels;

namespace {

/// A block, and how near a multiprocessor comes to its peak with it.
struct Candidate {
  int64_t m, n, k;
  int warps, stages;
  double efficiency;
};

/// What the candidates of one type have in common. Of one multiprocessor:
/// operations a nanosecond at an efficiency of 1.
struct Family {
  std::span<const Candidate> candidates;
  double operations;
};

// The first of each is measured (docs/BENCHMARKS-GPU.md, "Products").
// A block's traffic from the cache is m + n values for m * n operations, which
// is what lowers the efficiency of the smaller ones.
constexpr Candidate halves[] = {{128, 256, 64, 8, 3, 1.00},
                                {128, 128, 64, 8, 3, 0.90},
                                {64, 128, 64, 4, 4, 0.72},
                                {64, 64, 64, 4, 4, 0.50}};
constexpr Candidate bytes[] = {{128, 128, 128, 8, 3, 1.00},
                               {64, 64, 128, 4, 3, 0.60}};
constexpr Candidate tf32s[] = {{128, 128, 32, 8, 3, 1.00},
                               {64, 64, 32, 4, 3, 0.60}};
constexpr Candidate floats[] = {{128, 64, 16, 8, 3, 1.00},
                                {64, 64, 32, 4, 3, 0.95},
                                {32, 32, 32, 4, 3, 0.50}};

Family familyOf(DType dtype, bool tf32) {
  if (dtype == i8) {
    return {bytes, 9000};
  }
  if (dtype != f32) {
    return {halves, 5300};
  }
  return tf32 ? Family{tf32s, 2600} : Family{floats, 300};
}

/// The one that ahead.txt lists.
std::span<const Candidate> compiledAhead(DType dtype, bool tf32) {
  if (dtype == i8) {
    return {bytes + 1, 1};
  }
  if (dtype != f32) {
    return {halves + 1, 1};
  }
  return tf32 ? std::span(tf32s + 1, 1) : std::span(floats + 1, 1);
}

} // namespace

/// The block with which `size` costs least, where each block costs its places
/// and `each` more. Few sizes, since each is compiled.
static int64_t blockOf(int64_t size, int64_t each,
                       std::initializer_list<int64_t> choices) {
  int64_t best = 0, bestCost = INT64_MAX;
  for (int64_t block : choices) {
    int64_t cost = cdiv(size, block) * (block + each);
    if (cost <= bestCost) {
      best = block;
      bestCost = cost;
    }
  }
  return best;
}

static ProductPlan planOfHost(const ProductSize &size) {
  // Each program packs its operands: large blocks pack less often, and two
  // packed blocks should stay in a second-level cache of 1 MiB.
  ProductPlan plan;
  if (hasCompiler()) {
    plan.blockM = blockOf(size.m, 8, {1, 4, 16, 32, 64, 96, 128});
    plan.blockN = blockOf(size.n, 32, {16, 32, 64, 96, 128, 256});
    plan.blockK = blockOf(size.k, 32, {16, 64, 128, 256});
  } else {
    plan.blockM = size.m <= 8 ? 4 : 64; // those of ahead.txt
    plan.blockN = plan.blockK = 128;
  }
  // Rows of so few programs that threads would idle: parts of K.
  int64_t programs =
      size.batch * cdiv(size.m, plan.blockM) * cdiv(size.n, plan.blockN);
  constexpr int64_t enough = 8, leastShare = 1024;
  while (programs * plan.splits < enough &&
         size.k >= 2 * plan.splits * leastShare) {
    plan.splits *= 2;
  }
  return plan;
}

ProductPlan kernels::planProduct(const ProductSize &size, DType dtype,
                                 bool tf32, Device device) {
  if (device.isHost()) {
    return planOfHost(size);
  }
  Family family = familyOf(dtype, tf32);
  if (!hasCompiler()) {
    family.candidates = compiledAhead(dtype, tf32);
  }
  double processors = properties(device).processors;
  // Of a second launch and of a program's first loads, in nanoseconds; bytes a
  // nanosecond of the device's memory.
  constexpr double launchTime = 2500, startTime = 1500, bandwidth = 3500;
  ProductPlan best;
  double bestTime = 1e300;
  for (const Candidate &c : family.candidates) {
    double tiles =
        double(size.batch) * double(cdiv(size.m, c.m) * cdiv(size.n, c.n));
    double operationTime =
        2.0 * double(c.m * c.n) / (family.operations * c.efficiency);
    for (int64_t splits = 1; splits <= 32; splits *= 2) {
      // A split should have a few blocks of K to overlap.
      if (splits > 1 && size.k < splits * c.k * 4) {
        break;
      }
      int64_t share = cdiv(cdiv(size.k, splits), c.k) * c.k;
      double waves = std::ceil(tiles * double(splits) / processors);
      double time = waves * (startTime + double(share) * operationTime);
      if (splits > 1) {
        double partBytes =
            double(size.batch) * double(size.m) * double(size.n) * 4;
        time += launchTime + 2 * double(splits) * partBytes / bandwidth;
      }
      if (time < bestTime) {
        bestTime = time;
        best = {c.m, c.n, c.k, c.warps, c.stages, splits};
      }
    }
  }
  return best;
}
