//===- OperatorCalls.h - A small call of each operator ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What asks every operator something: which types it takes (OperatorTable.cpp),
// and what it does with arguments that do not fit (OddCallsTest.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_TESTING_OPERATORCALLS_H
#define NEREID_KERNELS_TESTING_OPERATORCALLS_H

#include "nereid/Autograd/Variable.h"

#include <functional>
#include <span>
#include <vector>

namespace nereid::kernels {

struct OperatorCall {
  const char *name;
  /// Arguments of floats that fit.
  std::vector<Shape> arguments;
  /// A result without a history has no gradient. Indices are on the first
  /// argument's device.
  std::function<Variable(std::span<const Variable>)> call;
};

const std::vector<OperatorCall> &operatorCalls();

} // namespace nereid::kernels

#endif // NEREID_KERNELS_TESTING_OPERATORCALLS_H
