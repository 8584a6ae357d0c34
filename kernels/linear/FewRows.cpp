//===- FewRows.cpp - Products of a row or a few -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/FewRowsPlan.h"
#include "kernels/linear/Product.h"

#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Grid.h"
#include "nereid/Support/CpuLevels.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {
/// What both kernels take.
struct FewRows {
  const Product &p;
  const Tensor &y;
  int64_t m, n, k;
  bool isPlain;
};
} // namespace

/// Elements of a row that are multiplied together: eight vectors of sums for
/// all rows keep two units busy whose sums take four cycles each, and more
/// only fill registers (docs/decisions/ProductBlocks.md).
static int64_t lanesOfRows(int64_t rows) {
  constexpr int64_t sums = 8, most = 64;
  const cpu::CpuTarget &target =
      cpu::levels()[std::max(cpu::deviceLevel(), 1) - 1];
  int64_t vectors = std::max<int64_t>(sums / nextPowerOf2(rows), 1);
  return std::min<int64_t>(target.lanes(sizeof(float)) * vectors, most);
}

/// `b` whose columns lie in a row of memory.
static void runColumns(const FewRows &f) {
  const Product &p = f.p;
  const Tensor &residual = p.options.residual;
  constexpr int64_t blockN = 8, longest = 256, shortest = 64;
  int64_t lanes = lanesOfRows(f.m), blockK = longest;
  while (blockK > shortest && f.k % blockK) {
    blockK /= 2;
  }
  if (f.k % blockK) {
    blockK = std::clamp(nextPowerOf2(f.k), lanes, longest);
  }
  // Each row is read again for every few columns.
  Tensor a = f.m > 1 && p.a.dtype() != f32 ? p.a.to(f32) : p.a;
  static const OperatorKernel kernel("linear", "few_rows_kernel");
  kernel[{cdiv(f.n, blockN)}](
      f.y, a, p.b, orNone(contiguousOrNone(p.options.bias)), orNone(residual),
      orNone(p.before), orNone(p.of), f.m, f.n, f.k, a.stride(1), a.stride(2),
      p.b.stride(2), residual.defined() ? residual.stride(1) : 0,
      residual.defined() ? residual.stride(2) : 0, p.options.scale,
      "ROWS"_a = f.m, "BLOCK_N"_a = blockN, "PARTS"_a = blockK / lanes,
      "LANES"_a = lanes, "EVEN"_a = f.k % blockK == 0,
      "ACTIVATION"_a = nameOf(p.options.activation), "PLAIN"_a = f.isPlain);
}

/// Columns of a program that goes down rows of memory: pieces as long as leave
/// all processors about the same. Sums of several rows stay in the first-level
/// cache; of one, memory is the limit.
static int64_t columnsOfLines(int64_t rows, int64_t n) {
  constexpr int64_t least = 64, most = 256, mostOfOne = 2048;
  constexpr double uneven = 1.15;
  int64_t processors = properties(Device::cpu()).processors;
  int64_t columns = rows == 1 ? mostOfOne : most;
  auto ofBusiest = [&] { return columns * cdiv(cdiv(n, columns), processors); };
  while (columns > least &&
         double(ofBusiest() * processors) > uneven * double(n)) {
    columns /= 2;
  }
  return columns;
}

/// `b` whose rows are rows of memory.
static void runLines(const FewRows &f) {
  const Product &p = f.p;
  const Tensor &residual = p.options.residual;
  int64_t blockN = columnsOfLines(f.m, f.n), blockK = f.m == 1 ? 8 : 16;
  static const OperatorKernel kernel("linear", "rows_of_lines_kernel");
  kernel[{cdiv(f.n, blockN)}](
      f.y, p.a, p.b, orNone(contiguousOrNone(p.options.bias)), orNone(residual),
      orNone(p.before), orNone(p.of), f.m, f.n, f.k, p.a.stride(1),
      p.a.stride(2), p.b.stride(1), residual.defined() ? residual.stride(1) : 0,
      residual.defined() ? residual.stride(2) : 0, p.options.scale,
      "ROWS"_a = f.m, "BLOCK_N"_a = blockN, "BLOCK_K"_a = blockK,
      "EVEN"_a = f.k % blockK == 0,
      "ACTIVATION"_a = nameOf(p.options.activation), "PLAIN"_a = f.isPlain);
}

static void runOuter(const FewRows &f) {
  const Product &p = f.p;
  const Tensor &residual = p.options.residual;
  constexpr int64_t elements = 8192;
  int64_t blockN = std::min<int64_t>(nextPowerOf2(f.n), 512),
          blockM = elements / blockN;
  static const OperatorKernel kernel("linear", "outer_kernel");
  kernel[{cdiv(f.m, blockM) * cdiv(f.n, blockN)}](
      f.y, p.a, p.b, orNone(contiguousOrNone(p.options.bias)), orNone(residual),
      orNone(p.before), orNone(p.of), f.m, f.n, p.a.stride(1), p.a.stride(2),
      p.b.stride(1), p.b.stride(2), residual.defined() ? residual.stride(1) : 0,
      residual.defined() ? residual.stride(2) : 0, p.options.scale, "K"_a = f.k,
      "BLOCK_M"_a = blockM, "BLOCK_N"_a = blockN,
      "ACTIVATION"_a = nameOf(p.options.activation), "PLAIN"_a = f.isPlain);
}

/// Is there one of the host's kernels for it?
static bool runOnHostIfFew(const FewRows &f) {
  constexpr int64_t fewK = 8, fewRows = 8;
  const Tensor &a = f.p.a, &b = f.p.b;
  // Products of pairs are worth more than that nothing is packed.
  bool hasPairs = a.dtype() == bf16 && cpu::deviceLevel() >= 5;
  if (f.k <= fewK && f.m > fewRows) {
    runOuter(f);
  } else if (f.m <= fewRows && b.stride(1) == 1 &&
             (f.m == 1 || a.stride(2) == 1)) {
    runColumns(f);
  } else if (f.m <= (hasPairs ? 1 : fewRows) && b.stride(2) == 1) {
    runLines(f);
  } else {
    return false;
  }
  return true;
}

/// A weight of so many columns keeps the memory busy as it is.
static constexpr int64_t manyColumns = 16384;

/// A lane has two columns, in about four parts of K: few lanes have to add up.
/// Of one row, several warps with columns of their own are a program, because a
/// GPU begins less than one program a nanosecond (docs/Training.md, Sampling).
/// Of several rows each warp would have to share what it reads of them, which
/// takes longer than it saves.
FewRowsPlan kernels::planFewRows(int64_t rows, int64_t n, int64_t k,
                                 DType type) {
  constexpr int64_t warpSize = 32, mostWarps = 4, fewParts = 4, mostParts = 8;
  FewRowsPlan plan{};
  plan.columns = 2;
  plan.width = 16 / int64_t(byteSize(type));
  plan.warps = 1;
  while (plan.warps < mostWarps &&
         k > fewParts * plan.warps * warpSize * plan.width) {
    plan.warps *= 2;
  }
  plan.lanes = plan.warps * warpSize;
  plan.parts =
      std::clamp<int64_t>(cdiv(k, plan.lanes * plan.width), 1, mostParts);
  if (n >= manyColumns) {
    plan.columns = 4;
  } else if (rows == 1) {
    int64_t together = plan.warps < mostWarps ? mostWarps / plan.warps : 2;
    plan.warps *= together;
    plan.columns *= together;
  }
  return plan;
}

/// Rows of neighbours, all of K in registers, and no more after the product
/// than a bias and an activation.
static void runWhole(const FewRows &f, const FewRowsPlan &plan) {
  const Product &p = f.p;
  Tensor bias = contiguousOrNone(p.options.bias);
  bool early = !isCopied(p.options.bias, bias) && beginsEarly(p.a.device());
  int64_t rows = nextPowerOf2(f.m);
  bool isEven =
      rows == f.m && f.n % plan.columns == 0 && f.k == plan.elements();
  static const OperatorKernel kernel("linear", "whole_rows_kernel");
  kernel[{cdiv(f.n, plan.columns)}](
      f.y, p.a, p.b, orNone(bias), f.m, f.n, f.k, p.a.stride(1), p.b.stride(2),
      p.options.scale == 1 ? Argument(none) : Argument(p.options.scale),
      "ROWS"_a = rows, "BLOCK_N"_a = plan.columns, "PARTS"_a = plan.parts,
      "LANES"_a = plan.lanes, "WIDTH"_a = plan.width, "EVEN"_a = isEven,
      "EARLY"_a = early, "ACTIVATION"_a = nameOf(p.options.activation),
      "launch_pdl"_a = early, "num_warps"_a = plan.warps,
      "maxnreg"_a = registersOfRows(f.m));
}

static void runOnGpu(const FewRows &f) {
  const Product &p = f.p;
  const Tensor &residual = p.options.residual;
  FewRowsPlan plan = planFewRows(f.m, f.n, f.k, p.a.dtype());
  // What a lane has of the rows, too, is in registers.
  constexpr int64_t mostParts = 32, mostPartsOfTurn = 4;
  bool fits = plan.elements() >= f.k && f.m * plan.parts <= mostParts;
  if (fits && p.a.stride(2) == 1 && !residual.defined() &&
      !p.before.defined() && !p.of.defined()) {
    runWhole(f, plan);
    return;
  }
  int64_t parts =
      std::min(nextPowerOf2(plan.parts), mostPartsOfTurn) * (plan.lanes / 32);
  if (f.n >= manyColumns) {
    parts = plan.warps = 1;
  }
  Tensor bias = contiguousOrNone(p.options.bias);
  bool early = !isCopied(p.options.bias, bias) && beginsEarly(p.a.device());
  static const OperatorKernel kernel("linear", "weight_rows_kernel");
  kernel[{cdiv(f.n, plan.columns)}](
      f.y, p.a, p.b, orNone(bias), orNone(residual), orNone(p.before),
      orNone(p.of), f.m, f.n, f.k, p.a.stride(1), p.a.stride(2), p.b.stride(2),
      residual.defined() ? residual.stride(1) : 0,
      residual.defined() ? residual.stride(2) : 0, p.options.scale,
      "ROWS"_a = nextPowerOf2(f.m), "BLOCK_N"_a = plan.columns,
      "PARTS"_a = parts, "LANES"_a = 32, "WIDTH"_a = plan.width,
      "EARLY"_a = early, "ACTIVATION"_a = nameOf(p.options.activation),
      "PLAIN"_a = f.isPlain, "launch_pdl"_a = early, "num_warps"_a = plan.warps,
      "maxnreg"_a = registersOfRows(f.m));
}

bool kernels::runFewRows(const Product &p, const Tensor &y) {
  int64_t m = p.a.size(1), n = p.b.size(2), k = p.a.size(2);
  if (p.a.size(0) != 1 || p.b.size(0) != 1 || k == 0 || p.sumsBatches ||
      !isKernelFloat(p.a.dtype()) || p.options.tf32) {
    return false;
  }
  bool plain = !p.options.bias.defined() && !p.options.residual.defined() &&
               !p.before.defined() && !p.of.defined() &&
               p.options.activation == Activation::None && p.options.scale == 1;
  FewRows f{p, y, m, n, k, plain};
  if (y.device().isHost()) {
    return runOnHostIfFew(f);
  }
  // A lane has the sums of all rows.
  constexpr int64_t mostRows = 8;
  if (m > mostRows || p.b.stride(1) != 1) {
    return false;
  }
  runOnGpu(f);
  return true;
}
