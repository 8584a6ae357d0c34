//===- StagesTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/Stages.h"
#include "kernels/testing/OperatorTest.h"

using namespace nereid;
using namespace nereid::kernels;

NEREID_OPERATOR_TEST(Stages);

TEST_P(Stages, AreThoseOfThePlanWhereLoadsRunAhead) {
  Tensor rows = zeros({32, 64}, f16, device);
  bool isHip = device.kind() == Device::Kind::Hip;
  EXPECT_EQ(stagesFor(2, {rows, rows}), isHip ? 3 : 2);
  EXPECT_EQ(stagesFor(2, {rows, rows.slice(1, 1)}), 3);
}
