//===- Matmul.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Product.h"

#include "kernels/operator/Checks.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;

static bool hasProducts(DType t) {
  return t == f32 || t == f16 || t == bf16 || t == i8;
}

/// [M, K] as [1, M, K].
static Tensor batched(const Tensor &t) {
  return t.rank() == 2 ? t.unsqueeze(0) : t;
}

/// The shape of the result, or an error.
static Shape checkOperands(Checks &checks, const Tensor &a, const Tensor &b) {
  checks.any("a", a).rank(2, 3);
  if (!hasProducts(a.dtype())) {
    checks.fail("a", "a tensor of fp32, fp16, bf16 or int8", a.str());
  }
  checks.any("b", b).rank(2, 3).dtype(a.dtype(), "as a has");
  if (b.size(-2) != a.size(-1)) {
    checks.fail("b",
                std::to_string(a.size(-1)) +
                    " rows (the last dimension of a, " + a.str() + ")",
                b.str());
  }
  int64_t ofA = a.rank() == 3 ? a.size(0) : 1,
          ofB = b.rank() == 3 ? b.size(0) : 1;
  if (ofA != ofB && ofA != 1 && ofB != 1) {
    checks.fail("b",
                "a batch of " + std::to_string(ofA) +
                    " or 1 (the first dimension of a, " + a.str() + ")",
                b.str());
  }
  Shape shape = {ofA == 1 ? ofB : ofA, a.size(-2), b.size(-1)};
  if (a.rank() == 2 && b.rank() == 2) {
    shape.erase(shape.begin());
  }
  return shape;
}

static void checkOptions(Checks &checks, const Tensor &a, const Shape &shape,
                         const MatmulOptions &options) {
  checks.optional("bias", options.bias)
      .shape({shape.back()}, "the columns of the result");
  checks.optional("residual", options.residual).shape(shape, "of the result");
  if (!options.type) {
    return;
  }
  DType t = *options.type;
  bool isFloat = t == f32 || t == f16 || t == bf16;
  bool isPlain = !options.bias.defined() && !options.residual.defined() &&
                 options.activation == Activation::None && options.scale == 1;
  if (!isFloat && !(t == i32 && a.dtype() == i8 && isPlain)) {
    checks.fail("type",
                "fp32, fp16 or bf16, or i32 for a product of int8 alone",
                std::string(shortName(t)));
  }
}

/// Operands with one batch, of stride 0 where they are repeated.
static Product productOf(const Tensor &a, const Tensor &b,
                         MatmulOptions options) {
  Product p = {batched(a), batched(b), std::move(options), {}, {}, false};
  int64_t batch = std::max(p.a.size(0), p.b.size(0));
  if (p.a.size(0) == 0 || p.b.size(0) == 0) {
    batch = 0;
  }
  auto repeated = [&](const Tensor &t) {
    return t.size(0) == batch ? t
           : batch == 0       ? t.slice(0, 0, 0)
                              : t.expand({batch, t.size(1), t.size(2)});
  };
  p.a = repeated(p.a);
  p.b = repeated(p.b);
  if (p.options.residual.defined()) {
    p.options.residual = batched(p.options.residual);
  }
  return p;
}

Tensor kernels::matmul(const Tensor &a, const Tensor &b,
                       const MatmulOptions &options) {
  Checks checks("matmul");
  Shape shape = checkOperands(checks, a, b);
  checkOptions(checks, a, shape, options);
  MatmulOptions all = options;
  bool isPlain = !options.bias.defined() && !options.residual.defined() &&
                 options.activation == Activation::None && options.scale == 1;
  if (a.dtype() == i8 && !options.type && !isPlain) {
    all.type = f32;
  }
  return run(productOf(a, b, all)).view(shape);
}

/// The gradient of an operand of `shape`: left @ right, summed over the batch
/// where the operand was repeated.
static Tensor gradientOf(const Shape &shape, const Tensor &left,
                         const Tensor &right, bool tf32) {
  MatmulOptions options;
  options.tf32 = tf32;
  Product p = productOf(left, right, options);
  p.sumsBatches = (shape.size() == 2 || shape[0] == 1) && p.a.size(0) != 1;
  if (p.a.size(0) == 0 && p.sumsBatches) {
    return zeros(shape, left.dtype(), left.device());
  }
  return run(p).view(shape);
}

Variable kernels::matmul(const Variable &a, const Variable &b, bool tf32) {
  MatmulOptions options;
  options.tf32 = tf32;
  Tensor y = matmul(a.value(), b.value(), options);
  return autograd::record(
      "matmul", {a, b}, y,
      [a = a.value(), b = b.value(), tf32](const Tensor &dy,
                                           autograd::Needs needs) {
        Tensor da, db;
        if (needs[0]) {
          da = gradientOf(a.shape(), dy, b.transpose(-1, -2), tf32);
        }
        if (needs[1]) {
          db = gradientOf(b.shape(), a.transpose(-1, -2), dy, tf32);
        }
        return autograd::Gradients{da, db};
      });
}
