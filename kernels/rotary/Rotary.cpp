//===- Rotary.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/rotary/Rotary.h"

#include "kernels/join/Join.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>
#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

std::pair<Tensor, Tensor> kernels::rotaryAngles(int64_t positions,
                                                int64_t headSize, Device device,
                                                double base, int64_t first) {
  Checks checks("rotary");
  checks.require(positions >= 0, "positions", "a number that is not negative",
                 double(positions));
  checks.require(headSize > 0 && headSize % 2 == 0, "headSize",
                 "a positive even number", double(headSize));
  checks.require(base > 0, "base", "a positive number", base);
  int64_t half = headSize / 2;
  std::vector<float> cos, sin;
  for (int64_t t = 0; t < positions; ++t) {
    for (int64_t i = 0; i < half; ++i) {
      double angle = double(first + t) *
                     std::pow(base, -2.0 * double(i) / double(headSize));
      cos.push_back(float(std::cos(angle)));
      sin.push_back(float(std::sin(angle)));
    }
  }
  Shape shape = {positions, half};
  return {Tensor::fromVector(cos, shape, device),
          Tensor::fromVector(sin, shape, device)};
}

/// How many pairs turn.
static int64_t checkArguments(const Tensor &given, const Tensor &cos,
                              const Tensor &sin) {
  Checks checks("rotary");
  checks.gradients("x", given).rank(3, 4);
  auto floats = [&](const char *name, const Tensor &t) {
    return isOfDoubles(given) ? checks.gradients(name, t)
                              : checks.floats(name, t);
  };
  int64_t size = given.size(-1);
  floats("cos", cos)
      .shape({given.size(-3), -1}, "positions of x, and pairs that turn");
  int64_t half = cos.size(1);
  checks.require(half >= 1 && 2 * half <= size, "cos",
                 "from 1 to " + std::to_string(size / 2) +
                     " columns, half the head of x",
                 half);
  floats("sin", sin).shape(cos.shape(), "that of cos");
  return half;
}

/// As expressions and views, which are derived as others are.
static Variable ofDoubles(const Variable &x, const Tensor &cos,
                          const Tensor &sin, bool interleaved, int direction) {
  int64_t half = checkArguments(x.value(), cos, sin), size = x.size(-1);
  if (x.numel() == 0) {
    return x * 1;
  }
  auto part = [&](int64_t which) {
    return interleaved ? x.slice(-1, which, 2 * half, 2)
                       : x.slice(-1, which * half, (which + 1) * half);
  };
  Variable a = part(0), b = part(1);
  Tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1); // [positions, 1, pairs]
  Variable first = a * c - b * (s * direction),
           second = b * c + a * (s * direction);
  Shape shape = x.shape();
  shape.back() = 2 * half;
  Variable turned = interleaved ? stack({first, second}, -1).reshape(shape)
                                : concat({first, second}, -1);
  return 2 * half == size ? turned
                          : concat({turned, x.slice(-1, 2 * half)}, -1);
}

static Tensor rotate(const Tensor &given, const Tensor &cos, const Tensor &sin,
                     bool interleaved, int direction) {
  if (isOfDoubles(given)) {
    return ofDoubles(Variable(given), cos, sin, interleaved, direction).value();
  }
  int64_t half = checkArguments(given, cos, sin), size = given.size(-1);
  Tensor y = empty(given.shape(), given.dtype(), given.device());
  if (given.numel() == 0) {
    return y;
  }
  if (2 * half < size && !hasCompiler()) {
    // Forms compiled ahead of time turn whole heads.
    Tensor first = given.slice(-1, 0, 2 * half);
    y.slice(-1, 0, 2 * half)
        .copyFrom(rotate(first, cos, sin, interleaved, direction));
    y.slice(-1, 2 * half).copyFrom(given.slice(-1, 2 * half));
    return y;
  }
  Tensor x = given.rank() == 3 ? given.unsqueeze(0) : given;
  if (x.stride(3) != 1) {
    x = x.contiguous();
  }
  int64_t positions = x.size(1), heads = x.size(2);
  int64_t elements = x.device().isHost() ? 4096 : 2048;
  int64_t atOnce = std::clamp<int64_t>(elements / nextPowerOf2(half), 1,
                                       nextPowerOf2(heads));
  int64_t pairs = half;
  bool exact = hasCompiler();
  Tensor c = cos.contiguous(), s = sin.contiguous();
  if (!exact) {
    pairs = 64; // as ahead.txt has it
    atOnce = 16;
    c = c.to(f32);
    s = s.to(f32);
  }
  static const OperatorKernel kernel("rotary", "rotary_kernel");
  kernel[{x.size(0) * positions, cdiv(half, pairs)}](
      y, x, c, s, positions, heads, x.stride(0), x.stride(1), x.stride(2),
      double(direction), half, "HALF"_a = pairs, "HEADS"_a = atOnce,
      "INTERLEAVED"_a = interleaved, "EXACT"_a = exact,
      "REST"_a = size - 2 * half, "num_warps"_a = 4);
  return y;
}

Tensor kernels::rotary(const Tensor &x, const Tensor &cos, const Tensor &sin,
                       bool interleaved) {
  return rotate(x, cos, sin, interleaved, 1);
}

Tensor kernels::rotaryInverse(const Tensor &x, const Tensor &cos,
                              const Tensor &sin, bool interleaved) {
  return rotate(x, cos, sin, interleaved, -1);
}

Variable kernels::rotary(const Variable &x, const Tensor &cos,
                         const Tensor &sin, bool interleaved) {
  if (isOfDoubles(x)) {
    return ofDoubles(x, cos, sin, interleaved, 1);
  }
  return autograd::record(
      "rotary", {x}, rotary(x.value(), cos, sin, interleaved),
      [cos, sin, interleaved](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{rotaryInverse(dy, cos, sin, interleaved)};
      },
      {cos, sin});
}
