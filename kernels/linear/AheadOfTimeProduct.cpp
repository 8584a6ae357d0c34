//===- AheadOfTimeProduct.cpp - Products without a compiler ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Product.h"

#include "kernels/operator/OperatorKernel.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static bool isMultiple(int64_t value) { return value % 16 == 0; }

/// Are `row` and `col` strides with which a GPU reads 16 bytes at once?
static bool isAligned(const Tensor &t, int64_t row, int64_t col) {
  return reinterpret_cast<uintptr_t>(t.data()) % 16 == 0 &&
         (t.size(0) == 1 || isMultiple(t.stride(0))) &&
         ((col == 1 && isMultiple(row)) || (row == 1 && isMultiple(col)));
}

/// Is there a form for exactly these layouts, without masks? One operand at
/// least has its rows of K in one piece, or neither has (the gradient of a
/// weight).
static bool isEven(const Product &p, const ProductPlan &plan,
                   const Tensor &to) {
  int64_t m = p.a.size(1), n = p.b.size(2), k = p.a.size(2);
  bool aByK = p.a.stride(2) == 1, bByK = p.b.stride(1) == 1;
  if (p.a.dtype() == i8 ? !aByK || !bByK : !aByK && bByK) {
    return false;
  }
  return !isWide(p) && isAligned(p.a, p.a.stride(1), p.a.stride(2)) &&
         isAligned(p.b, p.b.stride(1), p.b.stride(2)) && isMultiple(n) &&
         (aByK || isMultiple(m)) && k % plan.blockK == 0 &&
         reinterpret_cast<uintptr_t>(to.data()) % 16 == 0;
}

/// What a launch does after the product.
struct Epilogue {
  Argument bias = none, before = none;
  bool isPlain = true;
  int activation = 0;
};

static void launchProduct(const Product &p, const ProductPlan &plan,
                          int64_t share, const Tensor &to,
                          const Epilogue &epilogue, bool even) {
  bool onGpu = !to.device().isHost();
  int64_t m = p.a.size(1), n = p.b.size(2), k = p.a.size(2);
  int64_t blocks = cdiv(m, plan.blockM) * cdiv(n, plan.blockN);
  bool tf32 = p.options.tf32 && onGpu && even && p.a.dtype() == f32;
  static const OperatorKernel product("linear", "linear_kernel");
  product[{blocks * p.a.size(0), plan.splits}](
      to, p.a, p.b, epilogue.bias, none, epilogue.before, none, m, n, k,
      p.a.size(0) == 1 ? 0 : p.a.stride(0), p.a.stride(1), p.a.stride(2),
      p.b.size(0) == 1 ? 0 : p.b.stride(0), p.b.stride(1), p.b.stride(2), 0, 0,
      0, p.options.scale, share, epilogue.activation, "BLOCK_M"_a = plan.blockM,
      "BLOCK_N"_a = plan.blockN, "BLOCK_K"_a = plan.blockK, "GROUP"_a = 8,
      "WRAP"_a = onGpu, "EVEN"_a = onGpu && even, "WIDE"_a = !(onGpu && even),
      "PARTS"_a = true, "ACTIVATION"_a = epilogue.isPlain ? "none" : "given",
      "PLAIN"_a = epilogue.isPlain, "PRECISION"_a = tf32 ? "tf32" : "ieee");
}

/// The sum of `partial` [parts, batch, m, n], and what follows a product.
static void finish(const Product &p, const Tensor &partial, const Tensor &y,
                   bool plain) {
  const MatmulOptions &options = p.options;
  int64_t batch = partial.size(1), m = partial.size(2), n = partial.size(3);
  auto toFloat = [](const Tensor &t) {
    return t.defined() ? t.to(f32).contiguous() : t;
  };
  Tensor bias = toFloat(options.bias), residual = toFloat(options.residual);
  Tensor absent =
      partial.dtype() == f32 ? partial : empty({1}, f32, y.device());
  constexpr int64_t blockM = 8, blockN = 128;
  static const OperatorKernel sum("linear", "given_parts_kernel");
  sum[{batch * cdiv(m, blockM) * cdiv(n, blockN)}](
      y, partial, bias.defined() ? bias : absent,
      residual.defined() ? residual : absent, p.before.defined() ? p.before : y,
      m, n, m * n, n, 1, options.scale, partial.size(0), batch * m * n,
      int(bias.defined()), int(residual.defined()), int(p.before.defined()),
      bitOf(options.activation), "BLOCK_M"_a = blockM, "BLOCK_N"_a = blockN,
      "PLAIN"_a = plain);
}

void kernels::runAheadOfTime(const Product &p, const Tensor &y) {
  const MatmulOptions &options = p.options;
  DType inType = p.a.dtype(), outType = y.dtype();
  ProductSize size = {p.a.size(0), p.a.size(1), p.b.size(2), p.a.size(2)};
  ProductPlan plan = planProduct(size, inType, options.tf32, y.device());
  if (p.sumsBatches) {
    plan.splits = 1; // each batch is a part
  }
  int64_t share = cdiv(cdiv(size.k, plan.splits), plan.blockK) * plan.blockK;
  plan.splits = share ? cdiv(size.k, share) : 1;
  bool even = isEven(p, plan, y);
  bool plain = !options.bias.defined() && !options.residual.defined() &&
               !p.before.defined() && options.scale == 1 &&
               options.activation == Activation::None;
  bool hasParts = plan.splits > 1 || (p.sumsBatches && size.batch > 1);
  // Forms have an epilogue where a linear layer's weight lies as usual.
  bool isFused = (even || y.device().isHost()) && !hasParts &&
                 !options.residual.defined() && inType != i8 &&
                 outType == inType && (!options.tf32 || y.device().isHost()) &&
                 p.a.stride(2) == 1 && p.b.stride(1) == 1 &&
                 (!options.bias.defined() || options.bias.dtype() == inType);
  bool writes = outType == inType || outType == (inType == i8 ? i32 : f32);
  if (!hasParts && plain && writes) {
    launchProduct(p, plan, share, y, {}, even);
    return;
  }
  if (isFused) {
    Tensor bias = contiguousOrNone(options.bias);
    launchProduct(
        p, plan, share, y,
        {orNone(bias), orNone(p.before), false, bitOf(options.activation)},
        even);
    return;
  }
  int64_t parts = p.sumsBatches ? size.batch : plan.splits;
  Tensor partial =
      empty({parts, p.sumsBatches ? 1 : size.batch, size.m, size.n},
            inType == i8 ? i32 : f32, y.device());
  launchProduct(p, plan, share, partial, {}, even);
  finish(p, partial, y, plain && outType == partial.dtype());
}
