//===- Linear.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Linear.h"

#include "kernels/linear/Doubles.h"
#include "kernels/linear/Product.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <algorithm>
#include <bit>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// [..., K] as [1, rows, K], copied only where rows have no one stride. Columns
/// may have any.
static Tensor matrixOf(const Tensor &x) {
  if (x.rank() == 2) {
    return x.asStrided({1, x.size(0), x.size(1)},
                       {x.size(0) * x.stride(0), x.stride(0), x.stride(1)});
  }
  if (x.size(-1) == 0) {
    int64_t count = 1;
    for (int axis = 0; axis + 1 < x.rank(); ++axis) {
      count *= x.size(axis);
    }
    return x.contiguous().view({1, count, 0});
  }
  Rows rows = rowsOf(x);
  return rows.tensor.asStrided({1, rows.count, rows.columns},
                               {0, rows.stride, 1});
}

/// `weight` [N, K] as [1, K, N].
static Tensor turned(const Tensor &weight) {
  int64_t n = weight.size(0), k = weight.size(1);
  return weight.asStrided(
      {1, k, n}, {k * weight.stride(1), weight.stride(1), weight.stride(0)});
}

static void checkArguments(const char *op, const Tensor &x,
                           const Tensor &weight, const Tensor &bias) {
  Checks checks(op);
  checks.floats("x", x).rank(1, 16);
  checks.floats("weight", weight)
      .shape({-1, x.size(-1)}, "columns: the last dimension of x")
      .dtype(x.dtype(), "as x has");
  checks.optional("bias", bias).shape({weight.size(0)}, "the rows of weight");
}

struct LinearResult {
  Tensor y, before;
};

/// Elements of a program, each on its own: 32 a thread, and with a second
/// array to read 16.
static constexpr int64_t flatBlock = 4096, flatBlockOfTwo = 2048;

/// A GPU's multiprocessor has room for one block of a large product. What
/// follows that keeps its matrix unit waiting, longer than a pass of its own
/// takes (docs/decisions/Products.md). Where each multiprocessor has one block
/// at most, no other block waits.
static bool activatesApart(int64_t elements, Activation activation,
                           bool keepsBefore, Device device) {
  constexpr int64_t block = 128 * 128;
  return keepsBefore && activation != Activation::Relu && !device.isHost() &&
         hasCompiler() && elements > block * numbersOf(device).processors;
}

static LinearResult forward(const char *op, const Tensor &x,
                            const Tensor &weight, const Tensor &bias,
                            Activation activation, bool tf32,
                            bool keepsBefore) {
  checkArguments(op, x, weight, bias);
  Product p;
  p.a = matrixOf(x);
  p.b = turned(weight);
  p.options.bias = bias;
  p.options.tf32 = tf32;
  Shape shape = x.shape();
  shape.back() = weight.size(0);
  if (activatesApart(p.a.size(1) * weight.size(0), activation, keepsBefore,
                     x.device())) {
    Tensor before = run(p), y = empty(shape, x.dtype(), x.device());
    if (y.numel() > 0) {
      static const OperatorKernel kernel("linear", "activation_kernel");
      kernel[{cdiv(y.numel(), flatBlock)}](
          y, before, y.numel(), "BLOCK"_a = flatBlock,
          "ACTIVATION"_a = nameOf(activation), "num_warps"_a = 4);
    }
    return {y, before};
  }
  p.options.activation = activation;
  if (keepsBefore) {
    p.before = empty({1, p.a.size(1), weight.size(0)}, x.dtype(), x.device());
  }
  p.to = empty(std::move(shape), x.dtype(), x.device());
  run(p);
  return {p.to, p.before};
}

/// Programs a column of blocks, for sums of columns that lie `rows` deep.
static int64_t programsOfColumns(int64_t rows, int64_t blocks, int64_t blockM,
                                 Device device) {
  // A program has 4 to 8 KiB of loads under way, and computes between them;
  // registers leave room for seven of them on a multiprocessor.
  int64_t all = programsForSums(INT32_MAX, device) * 3;
  return std::clamp<int64_t>(cdiv(all, blocks), 1, cdiv(rows, blockM));
}

/// dz = dy * activation'(z) into `dz` (without an activation: neither), and its
/// column sums.
static Tensor derivativeAndSums(const Tensor &dy, const Tensor &z,
                                const Tensor &dz, Activation activation,
                                std::optional<DType> biasType) {
  int64_t rows = dy.size(0), columns = dy.size(1);
  if (!biasType && dy.isContiguous() && hasCompiler()) {
    static const OperatorKernel flat("linear", "derivative_kernel");
    flat[{cdiv(dy.numel(), flatBlockOfTwo)}](
        dz, dy, z, dy.numel(), "BLOCK"_a = flatBlockOfTwo,
        "ACTIVATION"_a = nameOf(activation), "num_warps"_a = 4);
    return {};
  }
  // Of few rows a GPU's program adds all, of few columns: what a second launch
  // takes is worth two blocks of rows, one after the other.
  constexpr int64_t mostRows = 512;
  bool isOneLaunch = biasType && !z.defined() && rows <= 2 * mostRows &&
                     !dy.device().isHost() && hasCompiler();
  int64_t blockM = 16, blockN = 128, programs = 1;
  if (isOneLaunch) {
    blockM = std::min(int64_t(std::bit_ceil(uint64_t(rows))), mostRows);
    blockN = 16;
  } else {
    programs =
        programsOfColumns(rows, cdiv(columns, blockN), blockM, dy.device());
  }
  Tensor parts;
  if (biasType) {
    parts =
        empty({programs, columns}, isOneLaunch ? *biasType : f32, dy.device());
  }
  bool isGiven = !hasCompiler() && z.defined();
  static const OperatorKernel kernel("linear", "columns_kernel");
  kernel[{cdiv(columns, blockN), programs}](
      orNone(parts), orNone(dz), dy, orNone(z), rows, columns, dy.stride(0),
      dy.stride(1), isGiven ? bitOf(activation) : 0, "BLOCK_M"_a = blockM,
      "BLOCK_N"_a = blockN,
      "ACTIVATION"_a = isGiven ? "given" : nameOf(activation),
      "num_warps"_a = isOneLaunch ? 8 : 4);
  if (isOneLaunch) {
    return parts.squeeze(0);
  }
  return biasType ? columnSums(parts, *biasType) : Tensor();
}

LinearGradients kernels::linearBackward(const Tensor &dy, const Tensor &x,
                                        const Tensor &weight, const Tensor &z,
                                        Activation activation, bool wantsX,
                                        bool wantsWeight,
                                        std::optional<DType> biasType,
                                        bool tf32) {
  checkArguments("linear backward", x, weight, {});
  Checks checks("linear backward");
  Shape shape = x.shape();
  shape.back() = weight.size(0);
  checks.floats("dy", dy).shape(shape, "of the result").dtype(x.dtype());
  Tensor in = matrixOf(x), out = matrixOf(dy);
  int64_t rows = in.size(1), columns = weight.size(0);
  LinearGradients gradients;
  if (rows == 0 || columns == 0) {
    if (wantsX) {
      gradients.x = zeros(x.shape(), x.dtype(), x.device());
    }
    if (wantsWeight) {
      gradients.weight = zeros(weight.shape(), weight.dtype(), x.device());
    }
    if (biasType) {
      gradients.bias = zeros({columns}, *biasType, x.device());
    }
    return gradients;
  }
  Tensor dz = out.squeeze(0);
  if (activation != Activation::None) {
    checks.floats("z", z).contiguous();
    Tensor flat = z.view({rows, columns});
    Tensor dense = empty({rows, columns}, x.dtype(), x.device());
    gradients.bias = derivativeAndSums(dz, flat, dense, activation, biasType);
    dz = dense;
  } else if (biasType) {
    gradients.bias = derivativeAndSums(dz, {}, {}, activation, biasType);
  }
  Product p;
  p.options.tf32 = tf32;
  if (wantsX) {
    p.a = matrixOf(dz);
    p.b = matrixOf(weight);
    p.to = gradients.x = empty(x.shape(), x.dtype(), x.device());
    run(p);
  }
  if (wantsWeight) {
    p.a = turned(dz);
    p.b = in;
    p.to = gradients.weight =
        empty(weight.shape(), weight.dtype(), weight.device());
    run(p);
  }
  return gradients;
}

/// As a product and an expression, which are derived as others are.
static Variable ofDoubles(const Variable &x, const Variable &weight,
                          const Variable &bias, double scale,
                          Activation activation) {
  Checks checks("linear");
  checks.gradients("x", x.value()).rank(1, 16);
  checks.gradients("weight", weight.value())
      .shape({-1, x.size(-1)}, "columns: the last dimension of x")
      .dtype(f64, "as x has");
  if (bias.defined()) {
    checks.gradients("bias", bias.value())
        .shape({weight.size(0)}, "the rows of weight");
  }
  return finishedOfDoubles(matmul(x, weight.transpose(0, 1)),
                           {scale, bias, activation, {}});
}

Tensor kernels::linear(const Tensor &x, const Tensor &weight,
                       const Tensor &bias, Activation activation, bool tf32) {
  if (isOfDoubles(x)) {
    return ofDoubles(constant(x), constant(weight), constant(bias), 1,
                     activation)
        .value();
  }
  return forward("linear", x, weight, bias, activation, tf32, false).y;
}

Variable kernels::linear(const Variable &x, const Variable &weight,
                         const Variable &bias, Activation activation,
                         bool tf32) {
  if (isOfDoubles(x)) {
    return ofDoubles(x, weight, bias, 1, activation);
  }
  bool keeps = activation != Activation::None &&
               autograd::isRecording({x, weight, bias});
  LinearResult result = forward("linear", x.value(), weight.value(),
                                bias.value(), activation, tf32, keeps);
  DType biasType = bias.defined() ? bias.dtype() : f32;
  return autograd::record(
      "linear", {x, weight, bias}, result.y,
      [x = x.value(), w = weight.value(), z = result.before, activation,
       biasType, tf32](const Tensor &dy, autograd::Needs needs) {
        LinearGradients g = linearBackward(
            dy, x, w, z, activation, needs[0], needs[1],
            needs[2] ? std::optional(biasType) : std::nullopt, tf32);
        return autograd::Gradients{g.x, g.weight, g.bias};
      },
      {weight.requiresGrad() ? x.value() : Tensor(),
       x.requiresGrad() ? weight.value() : Tensor()});
}

/// Of a product of fp64.
static void checkType(const LinearOptions &options) {
  if (options.type && *options.type != f64) {
    Checks("linear").fail("type", "fp64, as x has",
                          std::string(shortName(*options.type)));
  }
}

/// [rows, K] of x [..., K].
template <typename T>
static T flattened(const T &x, const Tensor &value) {
  return x.reshape({value.numel() / value.size(-1), value.size(-1)});
}

static Shape shapeOfResult(const Tensor &x, const Tensor &weight) {
  Shape shape = x.shape();
  shape.back() = weight.size(0);
  return shape;
}

Tensor kernels::linear(const Tensor &x, const Tensor &weight,
                       const Tensor &bias, const LinearOptions &options) {
  if (isOfDoubles(x)) {
    checkType(options);
    return ofDoubles(constant(x), constant(weight), constant(bias),
                     options.scale, Activation::None)
        .value();
  }
  checkArguments("linear", x, weight, bias);
  MatmulOptions matmulOptions;
  matmulOptions.bias = bias;
  matmulOptions.scale = options.scale;
  matmulOptions.type = options.type;
  matmulOptions.tf32 = options.tf32;
  return matmul(x.size(-1) == 0 ? x : flattened(x, x), weight.transpose(0, 1),
                matmulOptions)
      .reshape(shapeOfResult(x, weight));
}

Variable kernels::linear(const Variable &x, const Variable &weight,
                         const Variable &bias, const LinearOptions &options) {
  if (isOfDoubles(x)) {
    checkType(options);
    return ofDoubles(x, weight, bias, options.scale, Activation::None);
  }
  checkArguments("linear", x.value(), weight.value(), bias.value());
  VariableMatmulOptions matmulOptions;
  matmulOptions.bias = bias;
  matmulOptions.scale = options.scale;
  matmulOptions.type = options.type;
  matmulOptions.tf32 = options.tf32;
  return matmul(x.size(-1) == 0 ? x : flattened(x, x.value()),
                weight.transpose(0, 1), matmulOptions)
      .reshape(shapeOfResult(x.value(), weight.value()));
}

Tensor kernels::linearGelu(const Tensor &x, const Tensor &weight,
                           const Tensor &bias) {
  return linear(x, weight, bias, Activation::Gelu);
}

Variable kernels::linearGelu(const Variable &x, const Variable &weight,
                             const Variable &bias) {
  return linear(x, weight, bias, Activation::Gelu);
}
