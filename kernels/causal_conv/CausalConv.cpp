//===- CausalConv.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/causal_conv/CausalConv.h"

#include "kernels/expression/Expression.h"
#include "kernels/join/Join.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/Rows.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static void checkArguments(const Tensor &x, const Tensor &weight,
                           const Tensor &bias) {
  Checks checks("causalConv");
  checks.gradients("x", x).rank(3, 3);
  auto floats = [&](const char *name, const Tensor &t) {
    return isOfDoubles(x) ? checks.gradients(name, t) : checks.floats(name, t);
  };
  floats("weight", weight)
      .rank(2, 2)
      .shape({x.size(2), -1}, "the channels of x, and taps");
  checks.require(weight.size(1) >= 1 && weight.size(1) <= 16, "weight",
                 "from 1 to 16 taps", weight.size(1));
  if (bias.defined()) {
    floats("bias", bias).shape({x.size(2)}, "the channels of x");
  }
}

static Tensor inLines(const Tensor &t) {
  return t.stride(2) == 1 ? t : t.contiguous();
}

/// Channels of a program; ahead.txt has 128.
static int64_t channelsOf(int64_t channels) {
  return !hasCompiler() ? 128 : std::min<int64_t>(nextPowerOf2(channels), 128);
}

static Tensor convolved(const Tensor &given, const Tensor &weight,
                        const Tensor &bias, DType type, bool reverse) {
  Tensor y = empty(given.shape(), type, given.device());
  if (y.numel() == 0) {
    return y;
  }
  Tensor x = inLines(given);
  int64_t steps = x.size(1), channels = x.size(2);
  int64_t width = channelsOf(channels), height = 2048 / width;
  bool isCompiled = hasCompiler();
  int64_t taps = weight.size(1);
  Tensor w = isCompiled ? weight : weight.to(f32),
         b = isCompiled ? bias : inType(bias);
  static const OperatorKernel kernel("causal_conv", "causal_conv_kernel");
  kernel[{x.size(0) * cdiv(steps, height) * cdiv(channels, width)}](
      y, x, w.contiguous(), orNone(contiguousOrNone(b)), steps, channels,
      x.stride(0), x.stride(1), taps, "TAPS"_a = isCompiled ? taps : 0,
      "REVERSE"_a = reverse, "BLOCK_T"_a = height, "BLOCK"_a = width,
      "num_warps"_a = 4);
  return y;
}

/// Of weight and bias, undefined ones where they are not wanted.
static std::pair<Tensor, Tensor> tapsBackward(const Tensor &dy, const Tensor &x,
                                              const Tensor &weight,
                                              const Tensor &bias) {
  int64_t batch = x.size(0), steps = x.size(1), channels = x.size(2),
          taps = weight.size(1);
  Device device = x.device();
  if (x.numel() == 0) {
    return {zeros(weight.shape(), weight.dtype(), device),
            bias.defined() ? zeros(bias.shape(), bias.dtype(), device)
                           : Tensor()};
  }
  Tensor gradient = inLines(dy), input = inLines(x);
  int64_t width = channelsOf(channels), height = 16;
  int64_t wanted = cdiv(programsForSums(batch * steps, device), batch);
  int64_t share = cdiv(cdiv(steps, wanted), height) * height;
  int64_t parts = batch * cdiv(steps, share);
  Tensor dw = empty({parts, channels * taps}, f32, device), dbias;
  if (bias.defined()) {
    dbias = empty({parts, channels}, f32, device);
  }
  static const OperatorKernel kernel("causal_conv", "taps_backward_kernel");
  kernel[{parts * cdiv(channels, width)}](
      dw, orNone(dbias), gradient, input, steps, channels, share,
      gradient.stride(0), gradient.stride(1), input.stride(0), input.stride(1),
      taps, "TAPS"_a = hasCompiler() ? taps : 0,
      "WIDTH"_a = hasCompiler() ? nextPowerOf2(taps) : 16, "BLOCK_T"_a = height,
      "BLOCK"_a = width, "num_warps"_a = 4);
  return {columnSums(dw, weight.dtype()).view(weight.shape()),
          bias.defined() ? columnSums(dbias, bias.dtype()) : Tensor()};
}

/// As expressions and views, which are derived as others are.
static Variable ofDoubles(const Variable &x, const Variable &weight,
                          const Variable &bias) {
  checkArguments(x.value(), weight.value(), bias.value());
  int64_t steps = x.size(1), taps = weight.size(1);
  Variable padded = pad(x, {{0, 0}, {taps - 1, 0}, {0, 0}});
  Expression y = weight.select(1, 0) * padded.slice(1, 0, steps);
  for (int64_t j = 1; j < taps; ++j) {
    y = y + weight.select(1, j) * padded.slice(1, j, j + steps);
  }
  return bias.defined() ? y + bias : y;
}

Tensor kernels::causalConv(const Tensor &x, const Tensor &weight,
                           const Tensor &bias) {
  if (isOfDoubles(x)) {
    return ofDoubles(constant(x), constant(weight), constant(bias)).value();
  }
  checkArguments(x, weight, bias);
  return convolved(x, weight, bias, x.dtype(), false);
}

Variable kernels::causalConv(const Variable &x, const Variable &weight,
                             const Variable &bias) {
  if (isOfDoubles(x)) {
    return ofDoubles(x, weight, bias);
  }
  return autograd::record(
      "causalConv", {x, weight, bias},
      causalConv(x.value(), weight.value(), bias.value()),
      [x = x.value(), weight = weight.value(),
       bias = bias.value()](const Tensor &dy, autograd::Needs needs) {
        autograd::Gradients gradients(3);
        if (needs[0]) {
          gradients[0] = convolved(dy, weight, {}, x.dtype(), true);
        }
        if (needs[1] || needs[2]) {
          auto [dw, dbias] =
              tapsBackward(dy, x, weight, needs[2] ? bias : Tensor());
          gradients[1] = needs[1] ? dw : Tensor();
          gradients[2] = dbias;
        }
        return gradients;
      },
      {x.value(), weight.value()});
}
