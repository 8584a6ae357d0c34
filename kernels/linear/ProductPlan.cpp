//===- ProductPlan.cpp - Blocks, warps, stages and splits -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/ProductPlan.h"

#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Precision.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Grid.h"
#include "nereid/Runtime/OfContexts.h"
#include "nereid/Runtime/launch/WordTable.h"
#include "nereid/Support/Knobs.h"

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
  /// Blocks that share a multiprocessor where its shared memory has room: one
  /// computes while the other waits.
  int resident = 1;
  /// Nanoseconds of a wave beside its operations: first loads, stores.
  double startTime = 1500;
  /// Only where nothing but a store follows: registers are full.
  bool plainOnly = false;
  /// Warps of its own that copy; programs that take one block after another.
  bool hasRoles = false;

  int64_t sharedBytes(int64_t elementBytes) const {
    return stages * (m + n) * k * elementBytes;
  }
};

/// What the candidates of one type have in common. Of one multiprocessor:
/// operations a nanosecond at an efficiency of 1.
struct Family {
  std::span<const Candidate> candidates;
  double operations;
};

// docs/decisions/ProductBlocks.md says where they come from. A block's traffic
// from the cache is m + n values for m * n operations, which is what lowers the
// efficiency of the smaller ones.
constexpr Candidate halves[] = {{128, 256, 64, 8, 3, 1.00, 1, 3100},
                                {128, 128, 64, 4, 3, 0.95, 2, 2500, true},
                                {128, 128, 64, 8, 3, 0.89, 2, 2400},
                                {64, 128, 64, 4, 4, 0.62},
                                {64, 64, 64, 4, 4, 0.43}};
// Of 16 bits, too, on GPUs that copy boxes of tensors (ProductSize::isMapped).
constexpr Candidate roles[] = {{128, 256, 64, 8, 4, 1.02, 1, 2300, false, true},
                               {128, 128, 64, 8, 6, 0.93, 1, 1100, false, true},
                               {64, 128, 64, 4, 8, 0.82, 1, 900, false, true},
                               {64, 64, 128, 4, 6, 0.59, 1, 700, false, true}};
constexpr Candidate bytes[] = {{128, 128, 128, 8, 3, 1.00},
                               {64, 64, 128, 4, 3, 0.60}};
constexpr Candidate rolesOfIntegers[] = {
    {128, 256, 128, 8, 4, 1.26, 1, 2300, false, true},
    {128, 128, 256, 8, 3, 1.10, 1, 1100, false, true},
    {128, 128, 128, 8, 6, 1.00, 1, 1100, false, true},
    {64, 128, 256, 4, 4, 1.14, 1, 900, false, true},
    {64, 128, 128, 4, 8, 0.86, 1, 900, false, true},
    {64, 64, 128, 4, 8, 0.88, 1, 700, false, true}};
// Sums of a block of K and of all take twice the registers, and a block of K is
// what an instruction may add up before its 14 bits are too few.
constexpr Candidate rolesOfFloat8[] = {
    {128, 128, 128, 8, 6, 1.16, 1, 1100, false, true},
    {64, 128, 128, 4, 8, 0.79, 1, 900, false, true},
    {64, 64, 128, 4, 8, 0.67, 1, 700, false, true}};
constexpr Candidate tf32s[] = {{128, 128, 32, 8, 3, 1.00},
                               {64, 64, 32, 4, 3, 0.60}};
// Of fp32 by three products of tf32: 32 x 32 sums a warp, whose registers are
// full.
constexpr Candidate splits[] = {{128, 64, 32, 8, 3, 1.00},
                                {64, 64, 32, 4, 3, 0.97},
                                {64, 32, 32, 4, 3, 0.70}};
constexpr Candidate floats[] = {{128, 64, 16, 8, 3, 1.00},
                                {64, 64, 32, 4, 3, 0.95},
                                {32, 32, 32, 4, 3, 0.50}};

Family familyOf(DType dtype, Precision precision) {
  if (byteSize(dtype) == 1) {
    return {bytes, 9000};
  }
  if (dtype != f32) {
    return {halves, 6200};
  }
  switch (precision) {
  case Precision::Exact:
    return {floats, 300};
  case Precision::Split:
    return {splits, 550};
  case Precision::Tf32:
    return {tf32s, 2600};
  }
  __builtin_unreachable();
}

std::span<const Candidate> rolesOf(DType dtype) {
  if (byteSize(dtype) == 2) {
    return roles;
  }
  return dtype == i8 ? std::span<const Candidate>(rolesOfIntegers)
                     : rolesOfFloat8;
}

/// The one that ahead.txt lists.
std::span<const Candidate> compiledAhead(DType dtype, bool tf32) {
  if (dtype == i8) {
    return {bytes + 1, 1};
  }
  if (dtype != f32) {
    return {halves + 2, 1};
  }
  return tf32 ? std::span(tf32s + 1, 1) : std::span(floats + 1, 1);
}

} // namespace

/// Nanoseconds that `tiles` blocks take, of `work` each.
static double timeOf(const Candidate &c, double tiles, double work,
                     double processors, int resident) {
  // Of what a full multiprocessor does, where a block has it alone.
  constexpr double alone = 0.74;
  double together = resident;
  double waves = std::floor(tiles / (processors * together));
  double left = tiles - waves * processors * together;
  double time = waves * (c.startTime + work * together);
  if (left > 0) {
    bool isAlone = together > 1 && left <= processors;
    time += c.startTime + (isAlone ? work / alone : work * together);
  }
  return time;
}

void kernels::forEachProductPlan(const ProductSize &size, DType dtype,
                                 bool tf32, Device device, bool plain,
                                 const PlanConsumer &use) {
  if (device.isHost()) {
    return forEachHostPlan(size, dtype, use);
  }
  Family family =
      familyOf(dtype, precisionOfProduct(dtype, tf32, device, size.k));
  if (!hasCompiler()) {
    family.candidates = compiledAhead(dtype, tf32);
  }
  DeviceNumbers gpu = numbersOf(device);
  double processors = gpu.processors;
  auto elementBytes = int64_t(byteSize(dtype));
  // Of a second launch, in nanoseconds; bytes a nanosecond at which it reads
  // parts.
  constexpr double launchTime = 2500, bandwidth = 3500;
  std::vector<Candidate> candidates(family.candidates.begin(),
                                    family.candidates.end());
  // With one block of K there is nothing to copy ahead.
  constexpr int64_t leastK = 64;
  if (size.isMapped && size.k > leastK && hasCompiler()) {
    std::span<const Candidate> own = rolesOf(dtype);
    candidates.insert(candidates.end(), own.begin(), own.end());
  }
  for (Candidate c : candidates) {
    if (!size.isAligned && !c.hasRoles) {
      constexpr double ofSingleElements = 0.1;
      c.efficiency *= ofSingleElements;
    }
    double tiles =
        double(size.batch) * double(cdiv(size.m, c.m) * cdiv(size.n, c.n));
    int64_t room = gpu.sharedBytes / c.sharedBytes(elementBytes);
    int resident = int(std::clamp<int64_t>(room, 1, c.resident));
    if (c.plainOnly && resident < c.resident) {
      continue;
    }
    double operationTime =
        2.0 * double(c.m * c.n) / (family.operations * c.efficiency);
    for (int64_t splits = 1; splits <= 16; ++splits) {
      // A split should have a few blocks of K to overlap.
      if (splits > 1 && size.k < splits * c.k * 4) {
        break;
      }
      if (c.plainOnly && !plain && splits == 1) {
        continue;
      }
      int64_t share = cdiv(cdiv(size.k, splits), c.k) * c.k;
      double time = timeOf(c, tiles * double(splits),
                           double(share) * operationTime, processors, resident);
      if (splits > 1) {
        double partBytes =
            double(size.batch) * double(size.m) * double(size.n) * 4;
        time += launchTime + double(splits) * partBytes / bandwidth;
      }
      use({c.m, c.n, c.k, c.warps, c.stages, splits, c.hasRoles, time});
    }
  }
}

static ProductPlan computeWhole(const ProductSize &size, DType dtype, bool tf32,
                                Device device, bool plain) {
  ProductPlan best;
  best.nanoseconds = INFINITY;
  forEachProductPlan(size, dtype, tf32, device, plain,
                     [&](const ProductPlan &plan) {
                       if (plan.nanoseconds < best.nanoseconds) {
                         best = plan;
                       }
                     });
  return best;
}

namespace {
/// Of launches like earlier ones: choosing takes several microseconds.
struct ChosenPlans {
  static constexpr size_t most = 4096;
  WordTable<ProductPlan> plans;
};
} // namespace

static ProductPlan planWhole(const ProductSize &size, DType dtype, bool tf32,
                             Device device, bool plain) {
  static const OfContexts<ChosenPlans> chosen;
  WordKey key;
  for (int64_t number : {size.batch, size.m, size.n, size.k, size.rowBytes}) {
    key.add(uint64_t(number));
  }
  key.add(uint64_t(dtype) | uint64_t(tf32) << 8 | uint64_t(plain) << 9 |
          uint64_t(size.isMapped) << 10 | uint64_t(size.isAligned) << 11 |
          uint64_t(hasCompiler()) << 12 | uint64_t(device.kind()) << 16 |
          uint64_t(device.index()) << 24 | uint64_t(knobsVersion()) << 32);
  key.add(uint64_t(numbersOf(device).processors)); // of a host: may change
  WordTable<ProductPlan> &plans = chosen.current().plans;
  if (const ProductPlan *known = plans.find(key)) {
    return *known;
  }
  ProductPlan plan = computeWhole(size, dtype, tf32, device, plain);
  if (plans.size() < ChosenPlans::most) {
    plans.insert(key, std::make_unique<ProductPlan>(plan));
  }
  return plan;
}

/// The rows of as many whole waves of `plan`'s blocks as there are, where more
/// blocks follow: in the last wave most processors would wait for a few large
/// blocks.
static int64_t rowsOfWholeWaves(const ProductSize &size,
                                const ProductPlan &plan, int64_t processors) {
  int64_t across = cdiv(size.n, plan.blockN);
  int64_t waves = across * cdiv(size.m, plan.blockM) / processors;
  return waves * processors / across * plan.blockM;
}

ProductPlan kernels::planProduct(const ProductSize &size, DType dtype,
                                 bool tf32, Device device, bool plain) {
  ProductPlan whole = planWhole(size, dtype, tf32, device, plain);
  if (!whole.hasRoles || whole.splits > 1 || size.batch > 1) {
    return whole;
  }
  int64_t rows = rowsOfWholeWaves(size, whole, numbersOf(device).processors);
  if (rows == 0 || rows >= size.m) {
    return whole;
  }
  // Nanoseconds of a second launch; what estimates are off by.
  constexpr double launchTime = 1000, margin = 0.96;
  ProductSize first = size, rest = size;
  first.m = rows;
  rest.m -= rows;
  ProductPlan cut = planWhole(first, dtype, tf32, device, plain);
  cut.nanoseconds +=
      planWhole(rest, dtype, tf32, device, plain).nanoseconds + launchTime;
  cut.rows = rows;
  return cut.nanoseconds < margin * whole.nanoseconds ? cut : whole;
}
