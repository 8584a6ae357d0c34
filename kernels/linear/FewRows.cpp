//===- FewRows.cpp - Products of a row or a few -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Product.h"

#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "nereid/Runtime/Grid.h"

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

/// A row, or BLOCK_N elements of it, a program.
static void runOnHost(const FewRows &f) {
  const Product &p = f.p;
  const Tensor &residual = p.options.residual;
  int64_t blockK = std::min<int64_t>(nextPowerOf2(f.k), 16), blockN = 16;
  static const OperatorKernel kernel("linear", "few_rows_kernel");
  kernel[{f.m * cdiv(f.n, blockN)}](
      f.y, p.a, p.b, orNone(contiguousOrNone(p.options.bias)), orNone(residual),
      orNone(p.before), orNone(p.of), f.m, f.n, f.k, p.a.stride(1),
      p.a.stride(2), p.b.stride(2), residual.defined() ? residual.stride(1) : 0,
      residual.defined() ? residual.stride(2) : 0, p.options.scale,
      "BLOCK_N"_a = blockN, "BLOCK_K"_a = blockK, "EVEN"_a = f.k % blockK == 0,
      "ACTIVATION"_a = nameOf(p.options.activation), "PLAIN"_a = f.isPlain);
}

/// 16 bytes an access. A program has a warp, so that its lanes add up without
/// shared memory; four of them, each with its part of K, where that would have
/// to come in several turns, of which the first alone is read ahead.
static void runOnGpu(const FewRows &f) {
  const Product &p = f.p;
  const Tensor &residual = p.options.residual;
  constexpr int64_t lanes = 32, mostParts = 4;
  int64_t width = 16 / int64_t(byteSize(p.a.dtype()));
  int64_t parts = std::max<int64_t>(nextPowerOf2(f.k) / (lanes * width), 1);
  int64_t warps = parts > mostParts ? 4 : 1, blockN = 2;
  parts = std::min(parts, mostParts * warps);
  // Of a large weight, which keeps the memory busy as it is: fewer programs,
  // for the GPU needs time to begin each.
  constexpr int64_t manyColumns = 16384;
  if (f.n >= manyColumns) {
    blockN = 4;
    parts = warps = 1;
  }
  // Sums of several rows: the assembler would load so much of `a` ahead that
  // half as many programs fit a multiprocessor (docs/Training.md, Sampling).
  int64_t mostRegisters = f.m > 1 ? 168 : 255;
  Tensor bias = contiguousOrNone(p.options.bias);
  bool early = !isCopied(p.options.bias, bias) && beginsEarly(p.a.device());
  static const OperatorKernel kernel("linear", "weight_rows_kernel");
  kernel[{cdiv(f.n, blockN)}](
      f.y, p.a, p.b, orNone(bias), orNone(residual), orNone(p.before),
      orNone(p.of), f.m, f.n, f.k, p.a.stride(1), p.a.stride(2), p.b.stride(2),
      residual.defined() ? residual.stride(1) : 0,
      residual.defined() ? residual.stride(2) : 0, p.options.scale,
      "ROWS"_a = nextPowerOf2(f.m), "BLOCK_N"_a = blockN, "PARTS"_a = parts,
      "LANES"_a = lanes, "WIDTH"_a = width, "EARLY"_a = early,
      "ACTIVATION"_a = nameOf(p.options.activation), "PLAIN"_a = f.isPlain,
      "launch_pdl"_a = early, "num_warps"_a = warps,
      "maxnreg"_a = mostRegisters);
}

bool kernels::runFewRows(const Product &p, const Tensor &y) {
  bool isHost = y.device().isHost();
  int64_t m = p.a.size(1), n = p.b.size(2), k = p.a.size(2);
  // On the host each row reads `b` again; on a GPU a lane has the sums of all.
  int64_t mostRows = isHost ? 1 : 8;
  if (p.a.size(0) != 1 || p.b.size(0) != 1 || m > mostRows || k == 0 ||
      p.b.stride(1) != 1 || p.sumsBatches || !isFloat(p.a.dtype()) ||
      p.options.tf32) {
    return false;
  }
  bool plain = !p.options.bias.defined() && !p.options.residual.defined() &&
               !p.before.defined() && !p.of.defined() &&
               p.options.activation == Activation::None && p.options.scale == 1;
  FewRows f{p, y, m, n, k, plain};
  isHost ? runOnHost(f) : runOnGpu(f);
  return true;
}
