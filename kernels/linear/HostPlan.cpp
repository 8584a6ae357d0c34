//===- HostPlan.cpp - How processors multiply -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program copies a block of each operand, BLOCK_K deep, into its thread's
// scratch and multiplies them; its block of sums lies there too. Times are
// counted in cycles of a core with vectors of 64 bytes (docs/TileToCPU.md, and
// docs/decisions/ProductBlocks.md for what was measured). Of other processors
// the ratios are similar, and only the order of the plans counts.
//
// BLOCK_K and the splits depend on the size alone, so that the sums are rounded
// in one way whatever the number of threads.
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/ProductPlan.h"

#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Grid.h"
#include "nereid/Support/CpuLevels.h"

#include <algorithm>
#include <cmath>

using namespace nereid;
using namespace nereid::kernels;

/// Neighbours along k that one 32-bit word of a packed operand holds.
static int64_t elementsPerWord(DType dtype) {
  bool hasDotProducts = cpu::deviceLevel() >= 5;
  return dtype == i8                       ? (hasDotProducts ? 4 : 2)
         : dtype == bf16 && hasDotProducts ? 2
                                           : 1;
}

/// The block with which `size` costs least, where each block costs its places
/// and `each` more.
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

/// Of K, where there would be few programs even of small blocks.
static int64_t splitsOf(const ProductSize &size) {
  constexpr int64_t enough = 8, leastShare = 1024;
  int64_t programs = size.batch * cdiv(size.m, 64) * cdiv(size.n, 128);
  int64_t splits = 1;
  while (programs * splits < enough && size.k >= 2 * splits * leastShare) {
    splits *= 2;
  }
  return splits;
}

namespace {
struct HostModel {
  ProductSize size;
  int64_t perWord = 1, threads = 1;
  double cacheBytes = 0;  ///< of a core's second level
  bool readsRows = false; ///< of the left operand where they lie, if few times

  bool readsInPlace(const ProductPlan &plan, bool hasTiles) const;
  double cyclesOf(const ProductPlan &plan) const;
};
} // namespace

/// What the compiler decides (DotRows.cpp).
bool HostModel::readsInPlace(const ProductPlan &plan, bool hasTiles) const {
  int64_t columnsOfStrip = hasTiles                  ? 32
                           : cpu::deviceLevel() >= 4 ? 64
                                                     : 16,
          most =
              hasTiles ? cpu::readsInPlaceOfTiles : cpu::readsInPlaceOfVectors;
  return readsRows && plan.blockN <= most * columnsOfStrip &&
         (!hasTiles || cpu::RowsOfTiles::areUsable(size.rowBytes));
}

double HostModel::cyclesOf(const ProductPlan &plan) const {
  double m = double(plan.blockM), n = double(plan.blockN),
         words = double(plan.blockK) / double(perWord);
  // Blocks of 6 rows x 64 columns of sums, 2 multiplications and 2 loads a
  // cycle; few rows wait for the multiplier's 4 cycles.
  double rows = std::min(m, 6.0);
  double ofBlock = std::max({rows * 2, (rows + 4) / 2, 4.0});
  bool hasTiles = perWord > 1 && cpu::deviceLevel() >= 6 && plan.blockM >= 16;
  double products = std::ceil(m / rows) * std::ceil(n / 64) * words *
                    (hasTiles ? rows * 2 / 8 : ofBlock);
  // A word is read, written, and takes a line's way back to the second level.
  // Rows that are not copied come from there, too (DotRows.cpp).
  double packing =
      (n + m * (readsInPlace(plan, hasTiles) ? 0.1 : 1)) * words * 0.5;
  double sums = m * n * 0.16, ends = m * n * 0.85 + 2000;
  if ((m * words + n * words + m * n) * 4 > 0.6 * cacheBytes) {
    products *= 1.1;
    packing *= 2;
    sums *= 3;
  }
  double blocksOfK = double(cdiv(cdiv(size.k, plan.splits), plan.blockK));
  double program = blocksOfK * (products + packing + sums) + ends;
  int64_t programs = size.batch * cdiv(size.m, plan.blockM) *
                     cdiv(size.n, plan.blockN) * plan.splits;
  // Other threads wake up late, and at the end some wait for the others: less
  // where all have as many programs.
  constexpr double wakeUp = 24000;
  double all = program * double(programs), t = double(threads);
  double lost = program * (programs % threads ? 0.5 : 0.25);
  return std::max(double(cdiv(programs, threads)) * program,
                  threads == 1 ? all : (all + wakeUp * (t - 1)) / t + lost);
}

void kernels::forEachHostPlan(const ProductSize &size, DType dtype,
                              const PlanConsumer &use) {
  ProductPlan plan;
  if (!hasCompiler()) { // those of ahead.txt
    plan.blockM = size.m <= 8 ? 4 : 64;
    plan.blockN = plan.blockK = 128;
    plan.splits = splitsOf(size);
    return use(plan);
  }
  DeviceNumbers host = numbersOf(Device::cpu());
  HostModel model = {size, elementsPerWord(dtype), host.processors,
                     double(host.cacheBytes)};
  // Its words lie in memory as they are multiplied.
  model.readsRows = size.rowBytes > 0 &&
                    (dtype == f32 || (dtype == bf16 && model.perWord > 1) ||
                     (dtype == i8 && cpu::deviceLevel() >= 6));
  plan.blockK = model.perWord *
                blockOf(cdiv(size.k, model.perWord), 16, {16, 32, 64, 128});
  plan.splits = splitsOf(size);
  auto isTooLarge = [](int64_t block, int64_t smallest, int64_t extent) {
    return block > smallest && block >= 2 * extent;
  };
  for (int64_t m : {1, 4, 8, 16, 32, 64, 96, 128, 192, 256, 512}) {
    for (int64_t n : {16, 32, 64, 128, 192, 256, 512}) {
      if (isTooLarge(m, 1, size.m) || isTooLarge(n, 16, size.n)) {
        continue;
      }
      plan.blockM = m;
      plan.blockN = n;
      constexpr double nanosecondsOfCycle = 0.33;
      plan.nanoseconds = model.cyclesOf(plan) * nanosecondsOfCycle;
      use(plan);
    }
  }
}
