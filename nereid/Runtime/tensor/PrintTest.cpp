//===- PrintTest.cpp ---------------------------------------------*- C++-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The texts are what print() of NumPy 2.4 says of the same arrays.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

using namespace nereid;

static Tensor of(std::vector<double> values, Shape shape, DType dtype) {
  return Tensor::fromVector(values).to(dtype).view(std::move(shape));
}

TEST(Print, floatsHaveOneWidth) {
  EXPECT_EQ(valuesOf(of({1, 2.5, 3, 4.25}, {2, 2}, f32)),
            "[[1.   2.5 ]\n [3.   4.25]]");
  EXPECT_EQ(valuesOf(of({-1, 0.1, -0.0, 100}, {4}, f32)),
            "[ -1.    0.1  -0.  100. ]");
  EXPECT_EQ(valuesOf(of({1.0 / 3, 2}, {2}, f64)), "[0.33333333 2.        ]");
}

TEST(Print, farNumbersHaveExponents) {
  EXPECT_EQ(valuesOf(of({1e-5, 1, -3}, {3}, f32)), "[ 1.e-05  1.e+00 -3.e+00]");
  EXPECT_EQ(valuesOf(of({0.1, 1e-5, 2e300}, {3}, f64)),
            "[1.e-001 1.e-005 2.e+300]");
  EXPECT_EQ(valuesOf(of({0.3279, 1e-3, 1500}, {3}, f16)),
            "[3.28e-01 1.00e-03 1.50e+03]");
}

TEST(Print, halvesHaveTheDigitsThatTellThemApart) {
  EXPECT_EQ(valuesOf(of({0.1, 0.2}, {2}, f16)), "[0.1 0.2]");
  EXPECT_EQ(valuesOf(of({0.1, 0.25}, {2}, bf16)), "[0.10009766 0.25      ]");
}

TEST(Print, numbersThatAreNone) {
  EXPECT_EQ(valuesOf(of({NAN, 1, -INFINITY}, {3}, f32)), "[ nan   1. -inf]");
  EXPECT_EQ(valuesOf(of({NAN, INFINITY}, {2}, f32)), "[nan inf]");
}

TEST(Print, integersAndTruthValues) {
  EXPECT_EQ(valuesOf(of({1, -20, 300}, {3, 1}, i32)),
            "[[  1]\n [-20]\n [300]]");
  EXPECT_EQ(valuesOf(of({1, 0}, {2}, i1)), "[ True False]");
}

TEST(Print, longLinesAreBroken) {
  EXPECT_EQ(valuesOf(arange({30}, i32, Device::cpu())),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 "
            "21 22 23\n 24 25 26 27 28 29]");
}

TEST(Print, ofManyElementsTheEndsArePrinted) {
  EXPECT_EQ(valuesOf(arange({2000}, i32, Device::cpu())),
            "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(valuesOf(arange({1200}, i32, Device::cpu()).view({300, 2, 2})),
            "[[[   0    1]\n  [   2    3]]\n\n [[   4    5]\n  [   6    "
            "7]]\n\n [[   8    9]\n  [  10   11]]\n\n ...\n\n [[1188 1189]\n  "
            "[1190 1191]]\n\n [[1192 1193]\n  [1194 1195]]\n\n [[1196 1197]\n "
            " [1198 1199]]]");
}

TEST(Print, scalarsEmptyAndUndefinedTensors) {
  EXPECT_EQ(valuesOf(full({}, 3, f32, Device::cpu())), "3.0");
  EXPECT_EQ(valuesOf(full({}, 1e-5, f32, Device::cpu())), "1e-05");
  EXPECT_EQ(valuesOf(empty({2, 0}, f32, Device::cpu())), "[]");
  EXPECT_EQ(valuesOf(Tensor()), "undefined");
}

TEST(Print, aStreamTakesViews) {
  std::ostringstream stream;
  stream << arange({2, 3}, i32, Device::cpu()).transpose(0, 1);
  EXPECT_EQ(stream.str(), "[[0 3]\n [1 4]\n [2 5]]");
}
