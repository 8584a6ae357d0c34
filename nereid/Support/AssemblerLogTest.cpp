//===- AssemblerLogTest.cpp - Reading the assembler's lines ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/AssemblerLog.h"

#include <gtest/gtest.h>

using namespace nereid;

TEST(AssemblerLog, NumbersOfOneKernel) {
  AssemblerLog log = readAssemblerLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    24 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 388 bytes "
      "cmem[0]\n");
  EXPECT_EQ(log.registers, 255u);
  EXPECT_EQ(log.spillBytes, 16u);
  EXPECT_EQ(log.localBytes, 24u);
}

TEST(AssemblerLog, WhatIsNotThereIsZero) {
  AssemblerLog log = readAssemblerLog("registers, and no number");
  EXPECT_EQ(log.registers, 0u);
  EXPECT_EQ(log.spillBytes, 0u);
  EXPECT_EQ(readAssemblerLog("").localBytes, 0u);
}
