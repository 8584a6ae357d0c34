//===- Sort.cpp -------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/sort/Sort.h"

#include "kernels/indexing/Indexing.h"
#include "kernels/operator/Axes.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>
#include <bit>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// How a value's order is made of its bits (sort.py).
static const char *kindOf(DType t) {
  if (isFloat(t)) {
    return t == f64 ? "double" : "float";
  }
  bool isLong = t != i1 && bitWidth(t) == 64;
  return isLong ? (isSigned(t) ? "long" : "ulong")
                : (t == u32 ? "unsigned" : "signed");
}

/// The places of the first k of each row of x [rows, N], contiguous, by one
/// half of its order.
static Tensor placesBy(const Tensor &given, bool high, bool descending,
                       int64_t k) {
  Tensor x = given;
  int64_t rows = x.size(0), n = x.size(1);
  constexpr int64_t most = 1024, few = 64;
  int64_t width = std::min(nextPowerOf2(n), most);
  if (!hasCompiler()) { // as ahead.txt has it
    x = x.to(isFloat(x.dtype()) ? f32 : i32);
    width = n <= few ? few : most;
  }
  int64_t padded = cdiv(n, width) * width;
  Tensor keys = empty({rows, padded}, i64, x.device());
  int64_t blocks = cdiv(padded, most);
  static const OperatorKernel make("sort", "sort_keys_kernel");
  make[{rows * blocks}](
      keys, x, n, padded, blocks, "KIND"_a = kindOf(x.dtype()), "HIGH"_a = high,
      "DESCENDING"_a = descending, "BLOCK"_a = most, "num_warps"_a = 4);
  int64_t count = rows * (padded / width),
          together = std::max<int64_t>(256 / width, 1);
  static const OperatorKernel sortBlocks("sort", "sort_blocks_kernel");
  sortBlocks[{cdiv(count, together)}](keys, count, "ROWS"_a = together,
                                      "BLOCK"_a = width, "num_warps"_a = 4);
  for (int64_t run = width; run < padded; run *= 2) {
    Tensor merged = empty({rows, padded}, i64, x.device());
    int64_t steps = std::bit_width(uint64_t(run)) + 1;
    static const OperatorKernel merge("sort", "sort_merge_kernel");
    merge[{rows * blocks}](merged, keys, padded, run, steps, blocks,
                           "BLOCK"_a = most, "num_warps"_a = 4);
    keys = merged;
  }
  Tensor places = empty({rows, k}, i64, x.device());
  int64_t some = cdiv(k, most);
  static const OperatorKernel read("sort", "sort_places_kernel");
  read[{rows * some}](places, keys, k, padded, some, "BLOCK"_a = most,
                      "num_warps"_a = 4);
  return places;
}

/// Of orders of 64 bits, the low half is sorted by first: sorts are stable.
static Tensor placesOf(const Tensor &x, bool descending, int64_t k) {
  if (x.dtype() == i1 || bitWidth(x.dtype()) < 64) {
    return placesBy(x, false, descending, k);
  }
  Tensor first = placesBy(x, false, descending, x.size(1));
  Tensor second = placesBy(gather(x, 1, first), true, descending, k);
  return gather(first, 1, second);
}

static Tensor sortedPlaces(const char *op, const Tensor &x, int axis,
                           bool descending, std::optional<int64_t> k) {
  Checks checks(op);
  checks.any("x", x);
  if (isFloat(x.dtype()) && byteSize(x.dtype()) == 1) {
    checks.fail("x", "a tensor of fp32, fp16, bf16, fp64, integers or int1",
                x.str());
  }
  if (!hasCompiler() && x.dtype() != i1 &&
      (bitWidth(x.dtype()) == 64 || x.dtype() == u32)) {
    checks.fail("x",
                "elements of no more than 32 bits, and not u32, in a program "
                "without a compiler",
                x.str());
  }
  int at = checkedAxis(op, x, axis);
  int64_t n = x.size(at);
  checks.require(n < INT32_MAX, "x", "less than 2^31 elements along the axis",
                 n);
  if (k) {
    checks.require(*k >= 0 && *k <= n, "k",
                   "a number from 0 to " + std::to_string(n) +
                       ", the elements along the axis",
                   *k);
  }
  int64_t count = k.value_or(n);
  Tensor lines = x.transpose(at, -1).contiguous();
  Shape shape = lines.shape();
  shape.back() = count;
  Tensor places = empty(shape, i64, x.device());
  if (places.numel() != 0) {
    places = placesOf(lines.view({-1, n}), descending, count).view(shape);
  }
  return places.transpose(at, -1).contiguous();
}

static SortedVariables recorded(const char *op, const Variable &x, int axis,
                                bool descending, std::optional<int64_t> k) {
  Tensor places = sortedPlaces(op, x.value(), axis, descending, k);
  return {gather(x, axis, places), places};
}

SortedTensors kernels::sort(const Tensor &x, int axis, bool descending) {
  Tensor places = sortedPlaces("sort", x, axis, descending, std::nullopt);
  return {gather(x, axis, places), places};
}
SortedVariables kernels::sort(const Variable &x, int axis, bool descending) {
  return recorded("sort", x, axis, descending, std::nullopt);
}
Tensor kernels::argsort(const Tensor &x, int axis, bool descending) {
  return sortedPlaces("argsort", x, axis, descending, std::nullopt);
}
SortedTensors kernels::topk(const Tensor &x, int64_t k, int axis,
                            bool largest) {
  Tensor places = sortedPlaces("topk", x, axis, largest, k);
  return {gather(x, axis, places), places};
}
SortedVariables kernels::topk(const Variable &x, int64_t k, int axis,
                              bool largest) {
  return recorded("topk", x, axis, largest, k);
}
