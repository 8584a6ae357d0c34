//===- main.cpp - A project that is no part of this tree -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "outside_kernels.h"

#include <cstdio>

int main() {
  int y[4] = {};
  outside_kernels::fill(nereid::Device::cpu(), {1}, y, 3);
  std::printf("%d %d %d %d\n", y[0], y[1], y[2], y[3]);
}
