//===- Matmul.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Product.h"

#include "kernels/linear/Doubles.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/Reduce.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;

static bool hasProducts(DType t) {
  return isKernelFloat(t) || t == i8 ||
         ((t == f64 || isFloat8(t)) && hasCompiler());
}

namespace {

/// What `a` @ `b` is made of: vectors as matrices of one row or column, and the
/// dimensions in front of matrices, broadcast.
struct Operands {
  Tensor a, b;
  Shape batches;
  bool aIsVector, bIsVector;

  int64_t rows() const { return a.size(-2); }
  int64_t columns() const { return b.size(-1); }
  /// Of the result, as the caller sees it.
  Shape shape() const {
    Shape result = batches;
    if (!aIsVector) {
      result.push_back(rows());
    }
    if (!bIsVector) {
      result.push_back(columns());
    }
    return result;
  }
  /// [..., M, N] of what has that shape.
  Tensor asMatrices(Tensor t) const {
    if (bIsVector) {
      t = t.unsqueeze(-1);
    }
    return aIsVector ? t.unsqueeze(-2) : t;
  }
};

} // namespace

static Shape batchesOf(const Tensor &t) {
  return Shape(t.shape().begin(), t.shape().end() - 2);
}

static int64_t countOf(const Shape &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    count *= size;
  }
  return count;
}

/// Throws where they do not fit.
static Operands checkOperands(Checks &checks, const Tensor &a,
                              const Tensor &b) {
  checks.any("a", a).rank(1, 16);
  if (!hasProducts(a.dtype())) {
    checks.fail("a",
                hasCompiler()
                    ? "a tensor of fp32, fp16, bf16, fp64, fp8 or int8"
                    : "a tensor of fp32, fp16, bf16 or int8",
                a.str());
  }
  checks.any("b", b).rank(1, 16).dtype(a.dtype(), "as a has");
  Operands all = {a, b, {}, a.rank() == 1, b.rank() == 1};
  if (all.aIsVector) {
    all.a = a.unsqueeze(0);
  }
  if (all.bIsVector) {
    all.b = b.unsqueeze(1);
  }
  if (all.b.size(-2) != all.a.size(-1)) {
    checks.fail("b",
                std::to_string(a.size(-1)) +
                    " rows (the last dimension of a, " + a.str() + ")",
                b.str());
  }
  Shape x = batchesOf(all.a), y = batchesOf(all.b);
  all.batches.resize(std::max(x.size(), y.size()));
  for (size_t i = 0; i < all.batches.size(); ++i) {
    int64_t m = i < x.size() ? x[x.size() - 1 - i] : 1;
    int64_t n = i < y.size() ? y[y.size() - 1 - i] : 1;
    if (m != n && m != 1 && n != 1) {
      checks.fail("b",
                  "a batch of " + std::to_string(m) + " or 1 (dimension " +
                      std::to_string(-3 - int(i)) + " of a, " + a.str() + ")",
                  b.str());
    }
    all.batches[all.batches.size() - 1 - i] = m == 1 ? n : m;
  }
  return all;
}

static void checkOptions(Checks &checks, const Operands &operands,
                         const MatmulOptions &options) {
  bool isDouble = operands.a.dtype() == f64;
  auto checked = [&](const char *name, const Tensor &t) {
    return isDouble && t.defined() ? checks.gradients(name, t)
                                   : checks.optional(name, t);
  };
  checked("bias", options.bias)
      .shape({operands.columns()}, "the columns of the result");
  checked("residual", options.residual)
      .shape(operands.shape(), "of the result");
  if (!options.type) {
    return;
  }
  DType t = *options.type;
  if (isDouble) {
    if (t != f64) {
      checks.fail("type", "fp64, as a has", std::string(shortName(t)));
    }
    return;
  }
  bool isPlain = !options.bias.defined() && !options.residual.defined() &&
                 options.activation == Activation::None && options.scale == 1;
  if (!isKernelFloat(t) && !(t == i32 && operands.a.dtype() == i8 && isPlain)) {
    checks.fail("type",
                "fp32, fp16 or bf16, or i32 for a product of int8 alone",
                std::string(shortName(t)));
  }
}

/// [..., R, C] as [B, R, C] for all of `batches`, copied only where those have
/// no one stride.
static Tensor withOneBatch(const Tensor &t, const Shape &batches) {
  Shape shape = batches, own = batchesOf(t);
  int64_t count = countOf(batches), rows = t.size(-2), columns = t.size(-1);
  shape.insert(shape.end(), {rows, columns});
  if (countOf(own) == 1 && count == 1) {
    return t.rank() == 2
               ? t.unsqueeze(0)
               : Tensor::adopt(std::make_shared<Tensor>(t), t.data(),
                               {1, rows, columns}, t.dtype(), t.device(),
                               Shape{0, t.stride(-2), t.stride(-1)});
  }
  Tensor all = t.expand(shape);
  int64_t stride = 0, next = -1; // of the last batch; what the one before has
  for (size_t i = batches.size(); i-- > 0;) {
    if (batches[i] == 1) {
      continue;
    }
    if (next < 0) {
      stride = all.stride(int(i));
    } else if (all.stride(int(i)) != next) {
      return all.contiguous().view({count, rows, columns});
    }
    next = all.stride(int(i)) * batches[i];
  }
  return Tensor::adopt(std::make_shared<Tensor>(all), all.data(),
                       {count, rows, columns}, all.dtype(), all.device(),
                       Shape{stride, all.stride(-2), all.stride(-1)});
}

static Product productOf(const Operands &operands, MatmulOptions options) {
  if (options.residual.defined()) {
    options.residual =
        withOneBatch(operands.asMatrices(options.residual), operands.batches);
  }
  return {withOneBatch(operands.a, operands.batches),
          withOneBatch(operands.b, operands.batches),
          std::move(options),
          {},
          {},
          false};
}

Tensor kernels::matmul(const Tensor &a, const Tensor &b,
                       const MatmulOptions &options) {
  Checks checks("matmul");
  Operands operands = checkOperands(checks, a, b);
  checkOptions(checks, operands, options);
  if (isOfDoubles(a)) {
    Tensor y = run(productOf(operands, {})).view(operands.shape());
    return finishedOfDoubles(Variable(y),
                             {options.scale, constant(options.bias),
                              options.activation, constant(options.residual)})
        .value();
  }
  MatmulOptions all = options;
  bool isPlain = !options.bias.defined() && !options.residual.defined() &&
                 options.activation == Activation::None && options.scale == 1;
  if (a.dtype() == i8 && !options.type && !isPlain) {
    all.type = f32;
  }
  return run(productOf(operands, all)).view(operands.shape());
}

/// The gradient of an operand of `shape`, [..., R, C]: left @ right, summed
/// over the batches in which the operand was repeated.
static Tensor gradientOf(const Shape &shape, const Tensor &left,
                         const Tensor &right, const Shape &batches,
                         MatmulOptions options) {
  DType dtype = left.dtype();
  int64_t count = countOf(batches),
          own = countOf(Shape(shape.begin(), shape.end() - 2));
  if (count == 0) {
    return zeros(shape, dtype, left.device());
  }
  bool sumsAll = own == 1 && count != 1, sumsSome = own != count && !sumsAll;
  if (sumsSome) {
    options.type = dtype == f64 ? f64 : f32;
  }
  Product p = productOf({left, right, batches, false, false}, options);
  p.sumsBatches = sumsAll;
  Tensor result = run(p);
  if (!sumsSome) {
    return result.view(shape);
  }
  Shape each = batches;
  each.insert(each.end(), shape.end() - 2, shape.end());
  Shape padded(each.size() - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  return sumTo(result.view(each), padded, dtype).view(shape);
}

Variable kernels::matmul(const Variable &a, const Variable &b,
                         const VariableMatmulOptions &options) {
  MatmulOptions plain = {options.bias.value(), options.residual.value(),
                         Activation::None,     options.scale,
                         options.type,         options.tf32};
  Checks checks("matmul");
  bool isPlain = !options.bias.defined() && !options.residual.defined() &&
                 options.scale == 1 && !options.type;
  if (isOfDoubles(a) && !isPlain) {
    checkOptions(checks, checkOperands(checks, a.value(), b.value()), plain);
    return finishedOfDoubles(
        matmul(a, b),
        {options.scale, options.bias, Activation::None, options.residual});
  }
  Tensor y = matmul(a.value(), b.value(), plain);
  Operands kept = checkOperands(checks, a.value(), b.value());
  plain.bias = plain.residual = {};
  plain.type = std::nullopt;
  DType biasType = options.bias.defined() ? options.bias.dtype() : f32,
        residualType =
            options.residual.defined() ? options.residual.dtype() : f32;
  return autograd::record(
      "matmul", {a, b, options.bias, options.residual}, y,
      [kept, plain, biasType, residualType, shapeOfA = a.shape(),
       shapeOfB = b.shape()](const Tensor &dy, autograd::Needs needs) {
        Tensor da, db, dbias, dresidual;
        // What products read has one type.
        Tensor d = kept.asMatrices(dy.to(kept.a.dtype()));
        if (needs[0]) {
          da = gradientOf(kept.a.shape(), d, kept.b.transpose(-1, -2),
                          kept.batches, plain)
                   .view(shapeOfA);
        }
        if (needs[1]) {
          db = gradientOf(kept.b.shape(), kept.a.transpose(-1, -2), d,
                          kept.batches, plain)
                   .view(shapeOfB);
        }
        if (needs[2]) {
          dbias = sumTo(kept.asMatrices(dy), {kept.columns()}, biasType);
        }
        if (needs[3]) {
          dresidual = dy.to(residualType);
        }
        return autograd::Gradients{da, db, dbias, dresidual};
      },
      {b.requiresGrad() ? a.value() : Tensor(),
       a.requiresGrad() ? b.value() : Tensor()});
}
