//===- OracleTest.cpp - What a run with bounds can and cannot tell --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/KernelRunner.h"

#include <cmath>

namespace nereid::interp {
namespace {

TEST(OracleTest, WhatHangsOnAComparisonWithinTheErrorIsUnknown) {
  for (auto [other, undecided] :
       {std::pair("1.00000023841857910", true), {"1.1", false}}) {
    KernelRunner kernel("%r: !tile.ptr<i32>, %x: f32",
                        "%y = arith.mulf %x, %x : f32\n"
                        "%c = arith.constant " +
                            std::string(other) +
                            " : f32\n"
                            "%l = arith.cmpf olt, %y, %c : f32\n"
                            "%e = arith.extui %l : i1 to i32\n"
                            "tile.store %r, %e : !tile.ptr<i32>");
    std::vector<int> r(1);
    kernel.pass(r).pass(1.00000012f);
    LaunchFrame frame = kernel.makeFrame(1, 1, 1);
    Oracle oracle;
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
    auto address = reinterpret_cast<uint64_t>(r.data());
    EXPECT_EQ(oracle.stored.contains(address), undecided);
    EXPECT_FALSE(oracle.undecided); // the rest of the run is sound
  }
}

/// %l is undecided in each of them.
static Oracle runUndecided(const std::string &body, std::vector<int> &r) {
  KernelRunner kernel("%r: !tile.ptr<i32>, %f: !tile.ptr<f32>, %x: f32",
                      "%y = arith.mulf %x, %x : f32\n"
                      "%b = arith.constant 1.00000023841857910 : f32\n"
                      "%l = arith.cmpf olt, %y, %b : f32\n"
                      "%no = arith.constant false\n"
                      "%three = arith.constant 3 : i32\n"
                      "%four = arith.constant 4 : i32\n" +
                          body);
  kernel.pass(r).pass(r).pass(1.00000012f);
  LaunchFrame frame = kernel.makeFrame(1, 1, 1);
  Oracle oracle;
  EXPECT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
  return oracle;
}

TEST(OracleTest, UnknownIntegersSpread) {
  struct Case {
    const char *body;
    bool isUnknown;
  };
  for (Case c : {
           Case{"%v = arith.select %l, %three, %four : i32", true},
           Case{"%v = arith.select %l, %three, %three : i32", false},
           Case{"%a = arith.andi %l, %no : i1\n"
                "%v = arith.select %a, %three, %four : i32",
                false},
           Case{"%a = arith.ori %l, %no : i1\n"
                "%v = arith.select %a, %three, %four : i32",
                true},
           Case{"%e = arith.extui %l : i1 to i32\n"
                "%v = arith.addi %e, %three : i32",
                true},
           Case{"%e = arith.bitcast %y : f32 to i32\n"
                "%v = arith.shrui %e, %three : i32",
                true},
           Case{"%e = arith.fptosi %y : f32 to i32\n"
                "%v = arith.addi %e, %three : i32",
                false},
       }) {
    std::vector<int> r(1);
    Oracle oracle = runUndecided(
        std::string(c.body) + "\ntile.store %r, %v : !tile.ptr<i32>", r);
    auto found = oracle.stored.find(reinterpret_cast<uint64_t>(r.data()));
    EXPECT_EQ(found != oracle.stored.end(), c.isUnknown) << c.body;
    EXPECT_FALSE(oracle.undecided) << c.body;
  }
}

// relu near zero is near zero whichever way the comparison goes.
TEST(OracleTest, AnUndecidedSelectionIsAsFarOffAsItsTwoValuesAre) {
  std::vector<int> r(1);
  Oracle oracle = runUndecided("%z = arith.subf %y, %b : f32\n"
                               "%o = arith.constant 0.0 : f32\n"
                               "%v = arith.select %l, %z, %o : f32\n"
                               "tile.store %f, %v : !tile.ptr<f32>",
                               r);
  FloatBound bound = oracle.stored.at(reinterpret_cast<uint64_t>(r.data()));
  EXPECT_LT(bound.error, 1e-6);
  EXPECT_GT(bound.error, 0);
}

TEST(OracleTest, UndecidedControlFlowAndPlacesProveNothing) {
  for (const char *body :
       {"scf.if %l {\n tile.store %r, %three : !tile.ptr<i32>\n}",
        "%e = arith.extui %l : i1 to i32\n"
        "%n = arith.subi %e, %e : i32\n"
        "%p = tile.addptr %r, %n : !tile.ptr<i32>, i32\n"
        "tile.store %p, %three : !tile.ptr<i32>"}) {
    std::vector<int> r(1);
    EXPECT_TRUE(runUndecided(body, r).undecided) << body;
  }
}

TEST(OracleTest, AnUndecidedMaskLeavesTheElementUnknown) {
  std::vector<int> r(1);
  Oracle oracle = runUndecided("tile.store %r, %three, %l : !tile.ptr<i32>", r);
  FloatBound bound = oracle.stored.at(reinterpret_cast<uint64_t>(r.data()));
  EXPECT_TRUE(std::isinf(bound.error));
  EXPECT_FALSE(oracle.undecided);
}

TEST(OracleTest, TheOracleRunsProgramsBackward) {
  KernelRunner kernel("%r: !tile.ptr<i32>",
                      "%p = tile.program_id 0\n"
                      "tile.store %r, %p : !tile.ptr<i32>");
  for (bool isBackward : {false, true}) {
    std::vector<int> r = {-1};
    uint64_t address = reinterpret_cast<uint64_t>(r.data());
    kernel.arguments = {address};
    LaunchFrame frame = kernel.makeFrame(4, 1, 1);
    Oracle oracle;
    oracle.isBackward = isBackward;
    oracle.log.arrays = {{address, address + 4, true}};
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 4, oracle).ok());
    EXPECT_EQ(r[0], isBackward ? 0 : 3);
    EXPECT_TRUE(oracle.meeting);
    EXPECT_FALSE(oracle.log.useOf(address, 4).isWrittenFirst);
  }
}

TEST(OracleTest, TheOracleTellsTheFirstAccessOutside) {
  std::vector<int> r(2);
  uint64_t address = reinterpret_cast<uint64_t>(r.data());
  KernelRunner kernel("%r: !tile.ptr<i32>",
                      "%one = arith.constant 1 : i32\n"
                      "%p = tile.addptr %r, %one : !tile.ptr<i32>, i32\n"
                      "tile.store %r, %one : !tile.ptr<i32>\n"
                      "tile.store %p, %one : !tile.ptr<i32>");
  kernel.pass(r);
  LaunchFrame frame = kernel.makeFrame(1, 1, 1);
  Oracle oracle;
  oracle.log.arrays = {{address, address + 4, true}};
  ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
  ASSERT_TRUE(oracle.outside);
  EXPECT_EQ(oracle.outside->address, address + 4);
  EXPECT_TRUE(oracle.outside->isWrite);
  EXPECT_EQ(r, (std::vector<int>{1, 0})); // not made
  EXPECT_TRUE(oracle.log.useOf(address, 4).isWrittenFirst);
}

// A GPU's exponential has no denormal results.
TEST(OracleTest, ExponentialsBelowTheNormalNumbersMayBeZero) {
  for (auto [x, mayBeZero] : {std::pair(-90.0f, true), {-80.0f, false}}) {
    KernelRunner kernel("%r: !tile.ptr<f32>, %x: f32",
                        "%e = math.exp %x : f32\n"
                        "tile.store %r, %e : !tile.ptr<f32>");
    std::vector<float> r(1);
    kernel.pass(r).pass(x);
    LaunchFrame frame = kernel.makeFrame(1, 1, 1);
    Oracle oracle;
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
    FloatBound bound = oracle.stored.at(reinterpret_cast<uint64_t>(r.data()));
    EXPECT_EQ(bound.error >= bound.value, mayBeZero) << x;
  }
}

} // namespace
} // namespace nereid::interp
