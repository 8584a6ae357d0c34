//===- Doubles.cpp - Products and linear layers of fp64 ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Doubles.h"

#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/Reduce.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

void kernels::runOfDoubles(const Product &p, const Tensor &y) {
  if (p.sumsBatches && p.a.size(0) > 1) {
    Product each = p;
    each.sumsBatches = false;
    Tensor all =
        empty({p.a.size(0), p.a.size(1), p.b.size(2)}, f64, y.device());
    runOfDoubles(each, all);
    y.copyFrom(sumTo(all, y.shape()));
    return;
  }
  int64_t batches = p.a.size(0), m = p.a.size(1), n = p.b.size(2);
  constexpr int64_t block = 32, blockK = 16;
  static const OperatorKernel kernel("doubles", "doubles_kernel");
  kernel[{batches * cdiv(m, block) * cdiv(n, block)}](
      y, p.a, p.b, m, n, p.a.size(2), batches == 1 ? 0 : p.a.stride(0),
      p.a.stride(1), p.a.stride(2), p.b.size(0) == 1 ? 0 : p.b.stride(0),
      p.b.stride(1), p.b.stride(2), "BLOCK"_a = block, "BLOCK_K"_a = blockK,
      "num_warps"_a = 4);
}

static Expression activated(const Expression &z, Activation activation) {
  switch (activation) {
  case Activation::None:
    return z;
  case Activation::Relu:
    return relu(z);
  case Activation::Gelu:
    return gelu(z);
  case Activation::GeluTanh:
    return geluTanh(z);
  case Activation::Silu:
    return silu(z);
  }
  __builtin_unreachable();
}

Variable kernels::finishedOfDoubles(const Variable &product,
                                    const Epilogue &epilogue) {
  Expression y(product);
  if (epilogue.scale != 1) {
    y = y * epilogue.scale;
  }
  if (epilogue.bias.defined()) {
    y = y + epilogue.bias;
  }
  y = activated(y, epilogue.activation);
  if (epilogue.residual.defined()) {
    y = y + epilogue.residual;
  }
  return y;
}
