//===- Quantized.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/quantized/Quantized.h"

#include "kernels/linear/Linear.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"
#include "kernels/reduce/Reductions.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>
#include <bit>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static int64_t bytesOf(int64_t columns, int64_t bits) {
  return bits == 8 ? columns : cdiv(columns, 64) * 32;
}

/// What is quantized fits `largest` steps on both sides of 0.
static int64_t blockOfRow(int64_t elements) {
  return hasCompiler() ? std::min<int64_t>(nextPowerOf2(elements), 1024) : 1024;
}

static int64_t largestOf(int64_t bits) { return bits == 8 ? 127 : 7; }

static void checkFormat(const Checks &checks, int64_t columns, int64_t bits,
                        int64_t group) {
  checks.require(bits == 8 || bits == 4, "bits", "8 or 4", bits);
  checks.require(group > 0 && (group % 32 == 0 || group == columns), "group",
                 "a multiple of 32, or all " + std::to_string(columns) +
                     " columns",
                 group);
}

QuantizedWeight kernels::quantize(const Tensor &given,
                                  const QuantizeOptions &options) {
  Checks checks("quantize");
  checks.gradients("weight", given).rank(2, 2);
  // Kernels compiled ahead of time read fp32.
  Tensor w = isOfDoubles(given) || !hasCompiler() ? given.to(f32) : given;
  int64_t rows = w.size(0), columns = w.size(1), bits = options.bits;
  checks.require(columns >= 1 && columns <= INT32_MAX / 4, "weight",
                 "from 1 to 2^29 columns", columns);
  int64_t group = options.group == 0 ? columns : options.group;
  checkFormat(checks, columns, bits, group);
  group = std::min(group, columns);
  int64_t groups = cdiv(columns, group), bytes = bytesOf(columns, bits);
  QuantizedWeight q = {empty({rows, bytes}, i8, w.device()),
                       empty({rows, groups}, f32, w.device()), columns, bits,
                       group};
  if (rows == 0) {
    return q;
  }
  static const OperatorKernel scales("quantized", "scales_kernel");
  scales[{rows * groups}](q.scales, w, columns, w.stride(0), w.stride(1), group,
                          groups, "LARGEST"_a = largestOf(bits),
                          "BLOCK"_a = blockOfRow(group), "num_warps"_a = 4);
  int64_t block = blockOfRow(bytes);
  static const OperatorKernel pack("quantized", "pack_kernel");
  pack[{rows * cdiv(bytes, block)}](
      q.values, w, q.scales, columns, w.stride(0), w.stride(1), group, groups,
      bytes, "LARGEST"_a = largestOf(bits), "BITS"_a = bits, "BLOCK"_a = block,
      "num_warps"_a = 4);
  return q;
}

static void checkWeight(Checks &checks, const QuantizedWeight &w) {
  checks.any("weight.values", w.values).rank(2, 2).dtype(i8).contiguous();
  checks.require(w.columns >= 1 && w.columns <= INT32_MAX / 4, "weight.columns",
                 "from 1 to 2^29", w.columns);
  checkFormat(checks, w.columns, w.bits, w.group);
  int64_t rows = w.values.size(0);
  checks.any("weight.values", w.values)
      .shape({rows, bytesOf(w.columns, w.bits)}, "bytes of a row");
  checks.floats("weight.scales", w.scales)
      .shape({rows, cdiv(w.columns, w.group)}, "groups of each row")
      .dtype(f32)
      .contiguous();
}

Tensor kernels::dequantize(const QuantizedWeight &q, DType type) {
  Checks checks("dequantize");
  checkWeight(checks, q);
  if (type != f32 && type != f16 && type != bf16) {
    checks.fail("type", "fp32, fp16 or bf16", std::string(shortName(type)));
  }
  if (!hasCompiler() && type != f32) {
    return dequantize(q).to(type);
  }
  int64_t rows = q.values.size(0);
  Tensor w = empty({rows, q.columns}, type, q.values.device());
  if (rows == 0) {
    return w;
  }
  int64_t block = blockOfRow(q.columns);
  static const OperatorKernel kernel("quantized", "unpack_kernel");
  kernel[{rows * cdiv(q.columns, block)}](w, q.values, q.scales, q.columns,
                                          q.group, q.scales.size(1),
                                          q.values.size(1), "BITS"_a = q.bits,
                                          "BLOCK"_a = block, "num_warps"_a = 4);
  return w;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static int64_t blockOf(int64_t size, int64_t least, int64_t most) {
  return std::clamp(nextPowerOf2(size), least, most);
}

/// Elements of K at once: all of one group.
static int64_t depthOf(const QuantizedWeight &w) {
  if (w.bits == 4 || !hasCompiler()) {
    return 32;
  }
  int64_t ofGroup = w.scales.size(1) == 1 ? 64 : w.group & -w.group;
  return std::min<int64_t>(ofGroup, 64);
}

static Tensor multiplied(const Rows &x, const QuantizedWeight &w,
                         const Tensor &bias, const Shape &shape) {
  Tensor y = empty(shape, x.tensor.dtype(), x.tensor.device());
  if (y.numel() == 0) {
    return y;
  }
  bool isHost = y.device().isHost();
  int64_t n = w.values.size(0), m = x.count, blockM = blockOf(m, 16, 64),
          blockN = isHost ? blockOf(n, 16, 128) : 64;
  if (isHost && m < 16) {
    blockM = nextPowerOf2(m);
  }
  // Kernels compiled ahead of time have a scale for each group, and a bias.
  bool isGrouped = w.scales.size(1) > 1 || !hasCompiler();
  Tensor added = contiguousOrNone(bias);
  if (!hasCompiler()) {
    blockM = m <= 16 ? 16 : 64;
    blockN = 64;
    added = orFilled(inType(added), n, 0, f32, y.device());
  }
  static const OperatorKernel kernel("quantized", "quantized_kernel");
  kernel[{cdiv(m, blockM) * cdiv(n, blockN)}](
      y, x.tensor, w.values, w.scales, orNone(added), m, n, w.columns, x.stride,
      w.group, w.scales.size(1), w.values.size(1), "BITS"_a = w.bits,
      "GROUPED"_a = isGrouped, "BLOCK_M"_a = blockM, "BLOCK_N"_a = blockN,
      "BLOCK_K"_a = depthOf(w), "num_warps"_a = 4);
  return y;
}

static Tensor backwardOf(const Tensor &dy, const QuantizedWeight &w,
                         const Shape &shape) {
  Tensor dx = empty(shape, dy.dtype(), dy.device());
  if (dx.numel() == 0) {
    return dx;
  }
  if (dy.numel() == 0) {
    return dx.zero();
  }
  Rows rows = rowsOf(dy);
  int64_t n = w.values.size(0), bytes = w.values.size(1),
          blockM = blockOf(rows.count, 16, 64), depth = depthOf(w);
  if (dy.device().isHost() && rows.count < 16) {
    blockM = nextPowerOf2(rows.count);
  }
  int64_t blockN = blockOf(n, 16, 64);
  if (!hasCompiler()) {
    blockM = rows.count <= 16 ? 16 : 64;
    blockN = 64;
  }
  static const OperatorKernel kernel("quantized", "quantized_backward_kernel");
  kernel[{cdiv(rows.count, blockM) * cdiv(bytes, depth)}](
      dx, rows.tensor, w.values, w.scales, rows.count, n, w.columns,
      rows.stride, w.group, w.scales.size(1), bytes, "BITS"_a = w.bits,
      "BLOCK_M"_a = blockM, "BLOCK_N"_a = blockN, "BLOCK_K"_a = depth,
      "num_warps"_a = 4);
  return dx;
}

static void checkArguments(const Tensor &x, const QuantizedWeight &weight,
                           const Tensor &bias) {
  Checks checks("quantizedLinear");
  checks.gradients("x", x).rank(1, 16);
  checkWeight(checks, weight);
  if (x.size(-1) != weight.columns) {
    checks.fail("x",
                "a last dimension of " + std::to_string(weight.columns) +
                    ", the columns of weight",
                x.str());
  }
  int64_t columns = weight.values.size(0);
  if (isOfDoubles(x) && bias.defined()) {
    checks.gradients("bias", bias).shape({columns}, "the rows of weight");
  } else {
    checks.optional("bias", bias).shape({columns}, "the rows of weight");
  }
}

/// As a product of what the weight stands for.
static Variable ofDoubles(const Variable &x, const QuantizedWeight &weight,
                          const Variable &bias) {
  checkArguments(x.value(), weight, bias.value());
  return linear(x, Variable(dequantize(weight).to(f64)), bias);
}

Tensor kernels::quantizedLinear(const Tensor &x, const QuantizedWeight &weight,
                                const Tensor &bias) {
  if (isOfDoubles(x)) {
    return ofDoubles(Variable(x), weight, constant(bias)).value();
  }
  checkArguments(x, weight, bias);
  Shape shape = x.shape();
  shape.back() = weight.values.size(0);
  return multiplied(rowsOf(x), weight, bias, shape);
}

Variable kernels::quantizedLinear(const Variable &x,
                                  const QuantizedWeight &weight,
                                  const Variable &bias) {
  if (isOfDoubles(x)) {
    return ofDoubles(x, weight, bias);
  }
  return autograd::record(
      "quantizedLinear", {x, bias},
      quantizedLinear(x.value(), weight, bias.value()),
      [weight, shape = x.shape(),
       biasType = bias.defined() ? bias.dtype() : f32](const Tensor &dy,
                                                       autograd::Needs needs) {
        autograd::Gradients gradients(2);
        if (needs[0]) {
          gradients[0] = backwardOf(dy, weight, shape);
        }
        if (needs[1]) {
          int64_t n = weight.values.size(0);
          gradients[1] =
              n == 0 ? zeros({0}, biasType, dy.device())
                     : sum(dy.reshape({dy.numel() / n, n}), 0).to(biasType);
        }
        return gradients;
      },
      {weight.values, weight.scales});
}
