//===- operators.cpp - Operators with gradients, outside of the tree ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same program with the compiler, and with kernels compiled ahead of time.
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Expression.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/softmax/Softmax.h"

#include <cstdio>

using namespace nereid;

int main() {
  try {
    // softmax(0 0 0 0) = 1/4 each; the derivative of the last one's square by
    // the last is 2 * 1/4 * 1/4 * (1 - 1/4).
    Variable x(zeros({1, 4}, f32, Device::cpu()), true);
    Variable p = kernels::softmax(x);
    Variable y = p * p;
    Tensor dy = zeros({1, 4}, f32, Device::cpu());
    dy.slice(1, 3, 4).fill(1);
    y.backward(dy);
    std::printf("%s %g %g\n", kernels::hasCompiler() ? "compiled" : "ahead",
                p.value().toFloat64()[3], x.grad().toFloat64()[3]);
  } catch (const Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
