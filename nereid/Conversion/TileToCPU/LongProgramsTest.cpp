//===- LongProgramsTest.cpp - Programs of many operations -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chains of operations that a recursion over the program would not survive,
// and expressions that a walk along every path would not see the end of.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TestKernel.h"
#include "nereid/Conversion/TileToCPU/TileText.h"

#include "gtest/gtest.h"

using namespace nereid;

/// One step of the chains, odd and with more than one bit changed.
static uint32_t next(uint32_t x, int i) {
  return (x ^ static_cast<uint32_t>(i)) * 3u;
}

TEST(LongPrograms, ScalarsAreEmittedByAListOfWork) {
  constexpr int count = 12000;
  TileText t;
  TextValue out = t.ptr("i32"), x = t.argument("i32");
  TextValue three = t.constant("i32", "3");
  for (int i = 0; i < count; ++i) {
    x = t.op("arith.muli",
             t.op("arith.xori", x, t.constant("i32", std::to_string(i))),
             three);
  }
  t.store(out, x);
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  uint32_t result = 0, expected = 5;
  for (int i = 0; i < count; ++i) {
    expected = next(expected, i);
  }
  kernel.run({1, 1, 1}, &result, 5);
  EXPECT_EQ(result, expected);
}

/// What may wrap is asked of each sum once, and not of each path to it.
TEST(LongPrograms, MasksOfSumsThatMeetAgain) {
  constexpr int count = 60, size = 64;
  TileText t;
  TextValue out = t.ptr("i32"), i = t.range(size), x = i;
  for (int step = 0; step < count; ++step) {
    x = t.op("arith.addi", x, x);
  }
  TextValue mask = t.compare("slt", x, t.constant("i32", "1", {size}));
  t.store(t.addptr(out, i), i, mask);
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::vector<uint32_t> result(size, 7);
  kernel.run({1, 1, 1}, result.data());
  EXPECT_EQ(result[0], 0u);
  EXPECT_EQ(result[63], 63u); // 63 * 2^60 is 0 in 32 bits
}

/// Deep expressions go through buffers: also where an operand is read twice,
/// transposed, or an address.
TEST(LongPrograms, DeepBlocksAreCut) {
  constexpr int count = 2500, size = 64;
  TileText t;
  TextValue in = t.ptr("i32"), out = t.ptr("i32");
  TextValue x = t.load(t.addptr(in, t.range(size)));
  for (int i = 0; i < count; ++i) {
    TextValue mixed =
        t.op("arith.xori", x, t.constant("i32", std::to_string(i), {size}));
    x = t.op("arith.addi", t.op("arith.addi", mixed, mixed), mixed);
  }
  t.store(t.addptr(out, t.range(size)), x);
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::vector<uint32_t> from(size), to(size);
  for (int j = 0; j < size; ++j) {
    from[j] = 77u * static_cast<uint32_t>(j);
  }
  kernel.run({1, 1, 1}, from.data(), to.data());
  for (int j = 0; j < size; ++j) {
    uint32_t expected = from[j];
    for (int i = 0; i < count; ++i) {
      expected = next(expected, i);
    }
    EXPECT_EQ(to[j], expected) << j;
  }
}

/// o = o + o in an address: as many paths as there are elements in memory.
TEST(LongPrograms, AddressesAreTakenApartOnce) {
  TileText t;
  TextValue in = t.ptr("i32"), out = t.ptr("i32"), n = t.argument("i32");
  TextValue offsets = t.op("arith.muli", t.range(16), n);
  for (int i = 0; i < 40; ++i) {
    offsets = t.op("arith.addi", offsets, offsets);
  }
  TextValue x = t.load(t.addptr(in, offsets));
  t.store(t.addptr(out, t.range(16)), x);
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::vector<int32_t> from(16, 9), to(16);
  kernel.run({1, 1, 1}, from.data(), to.data(), 0);
  EXPECT_EQ(to, from);
}
