//===- Embedding.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/embedding/Embedding.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>

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

Tensor kernels::embedding(const Tensor &indices, const Tensor &weight) {
  Checks checks("embedding");
  checks.floats("weight", weight).rank(2, 2);
  checks.integers("indices", indices).rank(0, 15);
  int64_t rows = weight.size(0), columns = weight.size(1);
  checkIndices(checks, indices, rows);
  Tensor y =
      empty(shapeOfRows(indices, columns), weight.dtype(), weight.device());
  if (y.numel() == 0) {
    return y;
  }
  Rows table = rowsOf(weight);
  Tensor flat = indices.contiguous();
  int64_t block = blockOf(columns);
  static const OperatorKernel kernel("embedding", "embedding_kernel");
  kernel[{flat.numel(), cdiv(columns, block)}](
      y, flat, table.tensor, table.stride, rows, columns, "BLOCK"_a = block,
      "num_warps"_a = 4);
  return y;
}

/// What embedding_chain_kernel does, on the host: one pass, where a kernel
/// would compare pairs.
static void linkTokens(int32_t *last, int32_t *previous, int64_t rows,
                       const std::vector<int64_t> &indices) {
  std::fill_n(last, rows, -1);
  for (size_t t = 0; t < indices.size(); ++t) {
    previous[t] = last[indices[t]];
    last[indices[t]] = static_cast<int32_t>(t);
  }
}

Tensor kernels::embeddingBackward(const Tensor &dy, const Tensor &indices,
                                  int64_t rows) {
  Checks checks("embedding backward");
  checks.floats("dy", dy).rank(1, 16);
  int64_t columns = dy.size(-1);
  checks.integers("indices", indices);
  checks.floats("dy", dy).shape(shapeOfRows(indices, columns),
                                "that of indices, and columns");
  Device device = dy.device();
  if (dy.numel() == 0) {
    return zeros({rows, columns}, dy.dtype(), device);
  }
  Tensor dw = empty({rows, columns}, dy.dtype(), device),
         last = empty({rows}, i32, device),
         previous = empty({indices.numel()}, i32, device);
  if (device == Device::cpu()) {
    checkIndices(checks, indices, rows);
    linkTokens(last.data<int32_t>(), previous.data<int32_t>(), rows,
               indices.toVector<int64_t>());
  } else {
    static const OperatorKernel chains("embedding", "embedding_chain_kernel");
    chains[{1}](last, previous, indices.contiguous(), rows, indices.numel(),
                "BLOCK"_a = 128, "num_warps"_a = 8);
  }
  Rows out = rowsOf(dy);
  int64_t block = blockOf(columns);
  static const OperatorKernel sums("embedding", "embedding_backward_kernel");
  sums[{rows, cdiv(columns, block)}](dw, out.tensor, last, previous, out.stride,
                                     columns, "BLOCK"_a = block,
                                     "num_warps"_a = 4);
  return dw;
}

Variable kernels::embedding(const Tensor &indices, const Variable &weight) {
  return autograd::record(
      "embedding", {weight}, embedding(indices, weight.value()),
      [indices, rows = weight.size(0)](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{embeddingBackward(dy, indices, rows)};
      });
}
