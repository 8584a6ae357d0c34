//===- Embedding.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/embedding/Embedding.h"

#include "kernels/expression/Expression.h"
#include "kernels/indexing/Indexing.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "kernels/operator/Rows.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// Columns of a program.
static int64_t blockOf(int64_t columns) {
  return hasCompiler() ? std::min<int64_t>(columns, 1024) : 1024;
}

static Shape shapeOfRows(const Tensor &indices, int64_t columns) {
  Shape shape = indices.shape();
  shape.push_back(columns);
  return shape;
}

/// Those on a host device; reading others would wait for the GPU.
static void checkIndices(const Checks &checks, const Tensor &indices,
                         int64_t rows) {
  if (!indices.device().isHost()) {
    return;
  }
  std::vector<int64_t> all = indices.toVector<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] < 0 || all[i] >= rows) {
      checks.fail("indices",
                  "rows of weight, which has " + std::to_string(rows),
                  std::to_string(all[i]) + " at element " + std::to_string(i));
    }
  }
}

/// The row that is meant: from the end where the number is negative.
static std::optional<int64_t> rowOfPadding(const Checks &checks,
                                           std::optional<int64_t> padding,
                                           int64_t rows) {
  if (!padding) {
    return padding;
  }
  checks.require(*padding >= -rows && *padding < rows, "padding",
                 "a row of weight, which has " + std::to_string(rows),
                 *padding);
  return *padding < 0 ? *padding + rows : *padding;
}

Tensor kernels::embedding(const Tensor &indices, const Tensor &weight) {
  Checks checks("embedding");
  checks.gradients("weight", weight).rank(2, 2);
  checks.integers("indices", indices).rank(0, 15);
  int64_t rows = weight.size(0), columns = weight.size(1);
  checkIndices(checks, indices, rows);
  if (isOfDoubles(weight)) {
    return take(weight, indices);
  }
  Tensor y =
      empty(shapeOfRows(indices, columns), weight.dtype(), weight.device());
  if (y.numel() == 0) {
    return y;
  }
  Rows table = rowsOf(weight);
  Tensor flat = indices.contiguous();
  int64_t block = blockOf(columns), warps = 4;
  if (hasCompiler()) {
    // Two reads of 16 bytes a thread are under way, since a multiprocessor has
    // room for a number of programs, however few threads they have.
    constexpr int64_t bytesOfWarp = 32 * 32;
    warps = std::clamp<int64_t>(
        block * int64_t(byteSize(weight.dtype())) / bytesOfWarp, 1, 4);
    warps = int64_t(std::bit_floor(uint64_t(warps)));
  }
  bool early = beginsEarly(weight.device());
  static const OperatorKernel kernel("embedding", "embedding_kernel");
  kernel[{flat.numel() * cdiv(columns, block)}](
      y, flat, table.tensor, table.stride, rows, columns, "BLOCK"_a = block,
      "EARLY"_a = early, "launch_pdl"_a = early, "num_warps"_a = warps);
  return y;
}

/// What embedding_places_kernel and the next two do, on the host: one pass,
/// where a kernel would compare pairs.
namespace {

/// Of each row of the table the tokens that took it: `count` of them, from
/// `begin` on in `order`.
struct TokensOfRows {
  Tensor begin, count, order;
};

} // namespace

/// A stable sort by counting.
static TokensOfRows sortOnHost(const Tensor &indices, int64_t rows,
                               int64_t padding) {
  std::vector<int64_t> all = indices.toVector<int64_t>();
  std::vector<int32_t> count(static_cast<size_t>(rows)), begin(count.size()),
      order(all.size());
  for (int64_t index : all) {
    count[size_t(index)] += index != padding;
  }
  std::exclusive_scan(count.begin(), count.end(), begin.begin(), 0);
  std::vector<int32_t> next = begin;
  for (size_t t = 0; t < all.size(); ++t) {
    if (all[t] != padding) {
      order[size_t(next[size_t(all[t])]++)] = static_cast<int32_t>(t);
    }
  }
  Device device = indices.device();
  return {Tensor::fromVector(begin, {}, device),
          Tensor::fromVector(count, {}, device),
          Tensor::fromVector(order, {}, device)};
}

/// On the device, without waiting for it. Tokens are compared with those of
/// their chunk alone; a number for each row and chunk counts those before it.
static TokensOfRows sortOnDevice(const Tensor &indices, int64_t rows,
                                 int64_t padding) {
  Device device = indices.device();
  constexpr int64_t chunk = 1024, block = 32, step = 128, together = 256;
  int64_t tokens = indices.numel(), chunks = cdiv(tokens, chunk);
  TokensOfRows result = {empty({rows}, i32, device), empty({rows}, i32, device),
                         empty({tokens}, i32, device)};
  // One fill for both: numbers for each row and chunk, and how many are taken.
  Tensor zeroed = zeros({chunks * rows + 1}, i32, device),
         counts = zeroed.slice(0, 0, chunks * rows),
         taken = zeroed.slice(0, chunks * rows, chunks * rows + 1),
         place = empty({tokens}, i32, device);
  static const OperatorKernel places("embedding", "embedding_places_kernel");
  places[{cdiv(tokens, block)}](place, counts, indices, rows, tokens,
                                "CHUNK"_a = chunk, "BLOCK"_a = block,
                                "STEP"_a = step, "padding"_a = padding,
                                "num_warps"_a = 4);
  static const OperatorKernel lists("embedding", "embedding_lists_kernel");
  constexpr int64_t lines = 128;
  lists[{cdiv(rows, lines)}](result.begin, result.count, counts, taken, rows,
                             chunks, "BLOCK"_a = lines, "STEP"_a = 8,
                             "num_warps"_a = 4);
  static const OperatorKernel order("embedding", "embedding_order_kernel");
  order[{cdiv(tokens, together)}](result.order, place, result.begin, counts,
                                  indices, rows, tokens, "CHUNK"_a = chunk,
                                  "BLOCK"_a = together, "padding"_a = padding,
                                  "num_warps"_a = 4);
  return result;
}

/// Programs that share a row's tokens, where there are few rows: their sums are
/// added after.
static int64_t partsOf(int64_t programs, int64_t tokens, int64_t rows,
                       Device device) {
  constexpr int64_t most = 16, leastTokens = 8;
  int64_t wanted =
      device.isHost() ? 64 : 4 * int64_t(numbersOf(device).processors);
  return std::clamp<int64_t>(
      std::min(wanted / programs, tokens / (rows * leastTokens)), 1, most);
}

Tensor kernels::embeddingBackward(const Tensor &dy, const Tensor &indices,
                                  int64_t rows, std::optional<int64_t> given) {
  Checks checks("embedding backward");
  checks.floats("dy", dy).rank(1, 16);
  int64_t columns = dy.size(-1);
  checks.integers("indices", indices);
  checks.floats("dy", dy).shape(shapeOfRows(indices, columns),
                                "that of indices, and columns");
  checkIndices(checks, indices, rows);
  checks.require(rows >= 0, "rows", "a number that is not negative",
                 double(rows));
  given = rowOfPadding(checks, given, rows);
  Device device = dy.device();
  if (dy.numel() == 0 || rows == 0) {
    return zeros({rows, columns}, dy.dtype(), device);
  }
  // No form that is compiled ahead of time leaves a row out.
  bool zeroesAfter = given && !device.isHost() && !hasCompiler();
  int64_t padding = zeroesAfter ? -1 : given.value_or(-1);
  Rows out = rowsOf(dy);
  Tensor flat = indices.contiguous().flatten();
  int64_t tokens = flat.numel(), block = blockOf(columns),
          blocks = cdiv(columns, block),
          parts = partsOf(rows * blocks, tokens, rows, device);
  // What a GPU sorts at once takes a number for each row and chunk.
  constexpr int64_t most = 65536;
  Tensor dw, before;
  for (int64_t first = 0; first < tokens; first += most) {
    int64_t behind = std::min(tokens, first + most);
    bool isLast = behind == tokens;
    Tensor some = flat.slice(0, first, behind);
    TokensOfRows of = device.isHost() ? sortOnHost(some, rows, padding)
                                      : sortOnDevice(some, rows, padding);
    dw = empty({parts, rows, columns}, isLast && parts == 1 ? dy.dtype() : f32,
               device);
    static const OperatorKernel sums("embedding", "embedding_backward_kernel");
    Tensor from = Tensor::borrow(
        static_cast<char *>(out.tensor.data()) +
            first * out.stride * int64_t(byteSize(dy.dtype())),
        {behind - first, columns}, dy.dtype(), device, Shape{out.stride, 1});
    sums[{rows * blocks, parts}](
        dw, orNone(before), from, of.begin, of.count, of.order, out.stride,
        rows, columns, "ROWS"_a = 4, "BLOCK"_a = block, "num_warps"_a = 4);
    if (parts > 1) {
      dw = columnSums(dw.view({parts, rows * columns}),
                      isLast ? dy.dtype() : f32);
    }
    before = dw;
  }
  dw = dw.view({rows, columns});
  if (zeroesAfter) {
    dw.slice(0, *given, *given + 1).zero();
  }
  return dw;
}

Variable kernels::embedding(const Tensor &indices, const Variable &weight,
                            std::optional<int64_t> padding) {
  Checks checks("embedding");
  checks.gradients("weight", weight.value()).rank(2, 2);
  padding = rowOfPadding(checks, padding, weight.size(0));
  if (isOfDoubles(weight)) {
    checks.integers("indices", indices).rank(0, 15);
    checkIndices(checks, indices, weight.size(0));
    Variable y = take(weight, indices);
    // The row of padding is a constant.
    return padding ? Variable(
                         where(indices.unsqueeze(-1) == *padding, y.value(), y))
                   : y;
  }
  return autograd::record("embedding", {weight},
                          embedding(indices, weight.value()),
                          [indices, rows = weight.size(0),
                           padding](const Tensor &dy, autograd::Needs) {
                            return autograd::Gradients{
                                embeddingBackward(dy, indices, rows, padding)};
                          },
                          {indices});
}
