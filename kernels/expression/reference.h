//===- reference.h - Expressions in double precision ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of steps, each naming earlier values.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_REFERENCE_H
#define NEREID_KERNELS_EXPRESSION_REFERENCE_H

#include "kernels/linear/reference.h"
#include "kernels/testing/Number.h"

#include <algorithm>

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

/// b and c may be absent.
inline Number apply(StepOp op, const Number &a, const Number &b,
                    const Number &c, double number) {
  switch (op) {
  case StepOp::Add:
    return a + b;
  case StepOp::Subtract:
    return a - b;
  case StepOp::Multiply:
    return a * b;
  case StepOp::Divide:
    return a / (b * b + 0.5);
  case StepOp::Negate:
    return -a;
  case StepOp::Exp:
    return exp(2 * tanh(a));
  case StepOp::Log:
    return log(a * a + 0.5);
  case StepOp::Sqrt:
    return sqrt(a * a + 0.5);
  case StepOp::Rsqrt:
    return rsqrt(a * a + 0.5);
  case StepOp::Tanh:
    return tanh(a);
  case StepOp::Sigmoid:
    return sigmoid(a);
  case StepOp::Erf:
    return erf(a);
  case StepOp::Silu:
    return activate(a, Activation::Silu);
  case StepOp::Gelu:
    return activate(a, Activation::Gelu);
  case StepOp::GeluTanh:
    return activate(a, Activation::GeluTanh);
  case StepOp::Scale:
    return parameter(number) * a;
  case StepOp::Power:
    return pow(a * a + 0.5, number);
  case StepOp::Maximum:
    return Bound{std::max(a.value, b.value), std::max(a.error, b.error)};
  case StepOp::Minimum:
    return Bound{std::min(a.value, b.value), std::max(a.error, b.error)};
  case StepOp::Abs:
    return Bound{std::fabs(a.value), a.error};
  case StepOp::Relu:
    return Bound{std::max(a.value, 0.0), a.error};
  case StepOp::Where: {
    // Either may be taken where the condition depends on a rounding.
    Bound result = a.value < b.value ? a : c;
    if (std::fabs(a.value - b.value) <= a.error + b.error) {
      result.error = std::max(a.error, c.error) + std::fabs(a.value - c.value);
    }
    return result;
  }
  case StepOp::Round:
    return storedAs(a, bf16);
  }
  __builtin_unreachable();
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_EXPRESSION_REFERENCE_H
