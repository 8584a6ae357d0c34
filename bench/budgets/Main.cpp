//===- Main.cpp - nereid-budgets ------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every time that the project promises and a program can measure in a moment,
// with its bound. The verdict depends on the machine and its load: alone, by
// scripts/speed, never among the tests (docs/BENCHMARKING.md).
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <gmock/gmock.h>

int main(int argc, char **argv) {
  ::setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_DRIVER, 1);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
