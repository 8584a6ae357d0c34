//===- reference.h - Expressions in double precision ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of steps, each of which names earlier values. Beside each value runs
// a bound of its error in fp32: what the inputs' errors become, and what the
// step rounds (Wilkinson's running error analysis).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_REFERENCE_H
#define NEREID_KERNELS_EXPRESSION_REFERENCE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace nereid::kernels::reference {

enum class StepOp {
  Add,
  Subtract,
  Multiply,
  Divide, ///< a / (b^2 + 1/2)
  Negate,
  Exp,   ///< of 2 tanh(a)
  Log,   ///< of a^2 + 1/2
  Sqrt,  ///< of a^2 + 1/2
  Rsqrt, ///< of a^2 + 1/2
  Tanh,
  Sigmoid,
  Erf,
  Silu,
  Gelu,
  GeluTanh,
  Scale, ///< by a number
  Power, ///< (a^2 + 1/2) to a number
  // What has jumps or kinks.
  Maximum,
  Minimum,
  Abs,
  Relu,
  Where, ///< a < b ? a : c
  Round, ///< to bf16
};
constexpr int numSmoothOps = int(StepOp::Maximum),
              numOps = int(StepOp::Round) + 1;

struct Bounded {
  double value = 0, error = 0;
};

/// One operation of fp32: `ulps` roundings of a value that the inputs' errors
/// have moved by `moved`.
inline Bounded rounded(double value, double moved, double ulps) {
  double error = moved + ulps * 0x1p-24 * (std::fabs(value) + moved) + 1e-37;
  // fp32 may have left its range: nothing is known.
  bool fits = std::fabs(value) + error <= 1e30;
  return {value, fits ? error : INFINITY};
}

/// x^2 + 1/2.
inline Bounded shifted(Bounded x) {
  return rounded(x.value * x.value + 0.5,
                 (2 * std::fabs(x.value) + x.error) * x.error, 3);
}

/// `slope`: the most that the function has nearby.
inline Bounded smooth(double value, double slope, Bounded x, double ulps) {
  return rounded(value, slope * x.error, ulps);
}

inline Bounded apply(StepOp op, Bounded a, Bounded b, Bounded c,
                     double number) {
  double x = a.value, y = b.value;
  switch (op) {
  case StepOp::Add:
    return rounded(x + y, a.error + b.error, 1);
  case StepOp::Subtract:
    return rounded(x - y, a.error + b.error, 1);
  case StepOp::Multiply:
    return rounded(
        x * y,
        std::fabs(x) * b.error + std::fabs(y) * a.error + a.error * b.error, 1);
  case StepOp::Divide: {
    Bounded d = shifted(b);
    double q = x / d.value;
    return rounded(q,
                   (a.error + std::fabs(q) * d.error) /
                       std::max(d.value - d.error, 0.4),
                   4);
  }
  case StepOp::Negate:
    return {-x, a.error};
  case StepOp::Exp: {
    double e = std::exp(2 * std::tanh(x));
    return smooth(e, 8, a, 32);
  }
  case StepOp::Log: {
    Bounded s = shifted(a);
    return rounded(std::log(s.value),
                   s.error / std::max(s.value - s.error, 0.4), 8);
  }
  case StepOp::Sqrt: {
    Bounded s = shifted(a);
    return smooth(std::sqrt(s.value), 0.8, s, 4);
  }
  case StepOp::Rsqrt: {
    Bounded s = shifted(a);
    return smooth(1 / std::sqrt(s.value), 2, s, 6);
  }
  case StepOp::Tanh:
    return smooth(std::tanh(x), 1, a, 8);
  case StepOp::Sigmoid:
    return smooth(1 / (1 + std::exp(-x)), 0.25, a,
                  16 + 2 * std::min(std::fabs(x), 90.0));
  case StepOp::Erf:
    return smooth(std::erf(x), 1.13, a, 8);
  case StepOp::Silu: {
    Bounded s = apply(StepOp::Sigmoid, a, {}, {}, 0);
    return apply(StepOp::Multiply, a, s, {}, 0);
  }
  case StepOp::Gelu: {
    // (1 + erf) / 2 has the error of 1.
    Bounded phi = smooth(0.5 * std::erfc(-x * 0.70710678118654752), 0.4, a, 8);
    phi.error += 8 * 0x1p-24;
    return apply(StepOp::Multiply, a, phi, {}, 0);
  }
  case StepOp::GeluTanh: {
    double u = 1.5957691216057308 * (x + 0.044715 * x * x * x);
    double slope =
        1.6 + 0.22 * (std::fabs(x) + a.error) * (std::fabs(x) + a.error);
    Bounded cubic = smooth(u, slope, a, 8);
    return apply(StepOp::Multiply, a, apply(StepOp::Sigmoid, cubic, {}, {}, 0),
                 {}, 0);
  }
  case StepOp::Scale:
    return rounded(x * number, std::fabs(number) * a.error, 2);
  case StepOp::Power: {
    Bounded s = shifted(a);
    double p = std::pow(s.value, number);
    return rounded(
        p,
        std::fabs(number) *
            std::max(p, std::pow(std::max(s.value - s.error, 0.4), number)) *
            std::pow(1 + s.error, std::fabs(number)) /
            std::max(s.value - s.error, 0.4) * s.error,
        16 + 4 * std::fabs(number * std::log(s.value)));
  }
  case StepOp::Maximum:
    return {std::max(x, y), std::max(a.error, b.error)};
  case StepOp::Minimum:
    return {std::min(x, y), std::max(a.error, b.error)};
  case StepOp::Abs:
    return {std::fabs(x), a.error};
  case StepOp::Relu:
    return {std::max(x, 0.0), a.error};
  case StepOp::Where: {
    Bounded result = x < y ? a : c;
    if (std::fabs(x - y) <= a.error + b.error) {
      result.error = std::max(a.error, c.error) + std::fabs(x - c.value);
    }
    return result;
  }
  case StepOp::Round: {
    // To the nearest of 8 bits, which an error may push to the next.
    double error = a.error + (std::fabs(x) + a.error) * 0x1p-8;
    return {x, error};
  }
  }
  return {};
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_EXPRESSION_REFERENCE_H
