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

/// The error of the float stored at `%r`, the last parameter.
static double errorFor(KernelRunner &kernel, bool judgesUpstream,
                       bool allowsShortSums = false) {
  Oracle oracle;
  oracle.judgesUpstream = judgesUpstream;
  oracle.allowsShortSums = allowsShortSums;
  LaunchFrame frame = kernel.makeFrame(1, 1, 1);
  EXPECT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
  auto stored = oracle.stored.find(kernel.arguments.back());
  return stored == oracle.stored.end() ? 0 : stored->second.error;
}

TEST(OracleTest, UpstreamTakesOneInstructionForRootsAndDivisions) {
  struct Case {
    const char *op;
    double ours, upstreams; ///< in spacings of numbers below 1
  };
  for (Case c : {Case{"math.sqrt %x", 0.5, 2},
                 {"math.rsqrt %y", 2, 2.15},
                 {"arith.divf %x, %y", 0.5, 2.5},
                 {"arith.mulf %x, %x", 0.5, 0.5}}) {
    KernelRunner kernel("%x: f32, %y: f32, %r: !tile.ptr<f32>",
                        "%v = " + std::string(c.op) +
                            " : f32\n"
                            "tile.store %r, %v : !tile.ptr<f32>");
    std::vector<float> r(1);
    kernel.pass(0.7f).pass(1.3f).pass(r);
    double unit = std::ldexp(1.0, std::string(c.op) == "arith.mulf %x, %x"
                                      ? -25   // 0.49
                                      : -24); // 0.84, 0.88, 0.54
    EXPECT_EQ(errorFor(kernel, false), c.ours * unit) << c.op;
    EXPECT_EQ(errorFor(kernel, true), c.upstreams * unit) << c.op;
  }
}

TEST(OracleTest, UpstreamSumsFloat16InFloat16) {
  // float16 has no odd number past 2048: added from the left, the ones are
  // lost.
  std::vector<float> x = {2048, 1, 1, 1};
  for (const char *op : {"addf", "maximumf"}) {
    KernelRunner kernel("%x: !tile.ptr<f32>, %r: !tile.ptr<f32>",
                        std::string(R"(
  %i = tile.range 0, 4 : tensor<4xi32>
  %s = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %p = tile.addptr %s, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v = tile.load %p : tensor<4x!tile.ptr<f32>>
  %n = arith.truncf %v : tensor<4xf32> to tensor<4xf16>
  %w = arith.extf %n : tensor<4xf16> to tensor<4xf32>
  %t = "tile.reduce"(%w) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.)") + op + R"( %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<4xf32>) -> f32
  tile.store %r, %t : !tile.ptr<f32>)");
    std::vector<float> r(1);
    kernel.pass(x).pass(r);
    bool isSum = op == std::string("addf");
    EXPECT_EQ(errorFor(kernel, false), 0) << op;
    EXPECT_EQ(errorFor(kernel, true) >= 3, isSum) << op;
    EXPECT_LT(errorFor(kernel, true), 16) << op;
  }
}

TEST(OracleTest, SumsOfFp8ProductsMayHave14Bits) {
  // 4 * 4 and 31 times 2^-5 * 2^-5, which a unit with 14 bits loses.
  std::vector<uint8_t> x(32, 0x28);
  x[0] = 0x44;
  for (const char *type : {"f8E5M2", "f32"}) {
    std::string matrix(type);
    bool isByte = matrix == "f8E5M2";
    KernelRunner kernel(
        "%x: !tile.ptr<f8E5M2>, %r: !tile.ptr<f32>",
        R"(
  %i = tile.range 0, 32 : tensor<32xi32>
  %s = tile.splat %x : !tile.ptr<f8E5M2> -> tensor<32x!tile.ptr<f8E5M2>>
  %p = tile.addptr %s, %i : tensor<32x!tile.ptr<f8E5M2>>, tensor<32xi32>
  %b = tile.load %p : tensor<32x!tile.ptr<f8E5M2>>
  )" +
            std::string(isByte ? ""
                               : "%v = arith.extf %b : tensor<32xf8E5M2> to "
                                 "tensor<32xf32>\n") +
            "%m = tile.expand_dims %" + (isByte ? "b" : "v") +
            " {axis = 0 : i32} : tensor<32x" + matrix + "> -> tensor<1x32x" +
            matrix +
            ">\n"
            "%n = tile.expand_dims %" +
            (isByte ? "b" : "v") + " {axis = 1 : i32} : tensor<32x" + matrix +
            "> -> tensor<32x1x" + matrix + R"(>
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %d = tile.dot %m, %n, %z {precision = 2 : i32} : tensor<1x32x)" +
            matrix + ">, tensor<32x1x" + matrix +
            R"(>, tensor<1x1xf32>
  %q = tile.splat %r : !tile.ptr<f32> -> tensor<1x1x!tile.ptr<f32>>
  tile.store %q, %d : tensor<1x1x!tile.ptr<f32>>)");
    std::vector<float> r(1);
    kernel.pass(x).pass(r);
    EXPECT_LT(errorFor(kernel, false), 1e-3) << type;
    EXPECT_EQ(errorFor(kernel, false, true) >= 31.0 / 1024, isByte) << type;
    EXPECT_LT(errorFor(kernel, false, true), 0.1) << type;
  }
}

/// A processor's dot products of bf16 take what is below 2^-126 as zero.
TEST(OracleTest, ProductsOfBf16MayFlushDenormals) {
  for (auto [type, denormal, large] :
       {std::tuple<const char *, uint16_t, uint16_t>{"bf16", 0x0040, 0x7e80},
        {"f16", 0x0040, 0x7800}}) {
    std::string element(type);
    KernelRunner kernel(
        "%x: !tile.ptr<" + element + ">, %y: !tile.ptr<" + element +
            ">, %r: !tile.ptr<f32>",
        "%a = tile.splat %x : !tile.ptr<" + element +
            "> -> tensor<1x1x!tile.ptr<" + element +
            ">>\n%b = tile.splat %y : !tile.ptr<" + element +
            "> -> tensor<1x1x!tile.ptr<" + element +
            ">>\n%m = tile.load %a : tensor<1x1x!tile.ptr<" + element +
            ">>\n%n = tile.load %b : tensor<1x1x!tile.ptr<" + element + R"(>>
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %d = tile.dot %m, %n, %z {precision = 2 : i32} : tensor<1x1x)" +
            element + ">, tensor<1x1x" + element +
            R"(>, tensor<1x1xf32>
  %q = tile.splat %r : !tile.ptr<f32> -> tensor<1x1x!tile.ptr<f32>>
  tile.store %q, %d : tensor<1x1x!tile.ptr<f32>>)");
    std::vector<uint16_t> x{denormal}, y{large};
    std::vector<float> r(1);
    kernel.pass(x).pass(y).pass(r);
    // 2^-127 * 2^126, and nothing of it may be left; f16's own are kept.
    double error = errorFor(kernel, false);
    EXPECT_EQ(error >= 0.5, element == "bf16") << error;
    EXPECT_LT(error, 0.6);
  }
}

/// What float16 cannot hold may be infinity or not: such products are unknown,
/// whatever the other factor.
TEST(OracleTest, ProductsOfWhatAConversionOverflowsAreUnknown) {
  for (const char *factor : {"1.0", "0.0"}) {
    KernelRunner kernel("%x: f32, %r: !tile.ptr<f32>", std::string(R"(
  %n = arith.truncf %x : f32 to f16
  %a = tile.splat %n : f16 -> tensor<1x1xf16>
  %b = arith.constant dense<)") + factor + R"(> : tensor<1x1xf16>
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %d = tile.dot %a, %b, %z {precision = 2 : i32} : tensor<1x1xf16>, tensor<1x1xf16>, tensor<1x1xf32>
  %q = tile.splat %r : !tile.ptr<f32> -> tensor<1x1x!tile.ptr<f32>>
  tile.store %q, %d : tensor<1x1x!tile.ptr<f32>>)");
    std::vector<float> r(1);
    kernel.pass(1e30f).pass(r);
    EXPECT_TRUE(std::isinf(errorFor(kernel, false))) << factor;
  }
}

/// A GPU's product begins with the other addend: it rounds partial sums, which
/// may be large where the product is small and exact.
TEST(OracleTest, WhatIsAddedToAProductIsRoundedAtItsPartialSums) {
  struct Case {
    float factor, addend;
    double least, most; ///< error
  };
  for (const char *sum : {"arith.addf %d, %s", "arith.addf %s, %d"}) {
    for (Case c : {Case{1, 0.3f, 0x1p-12, 0x1p-7},
                   {1, 3, 0, 0},
                   {2048, 3, 1, 8}}) { // 2^24 + 3
      std::vector<float> x = {4096, -4096}, r(1);
      KernelRunner kernel(
          "%x: !tile.ptr<f32>, %f: f32, %c: f32, %r: !tile.ptr<f32>",
          std::string(R"(
  %i = tile.range 0, 2 : tensor<2xi32>
  %j = tile.splat %x : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
  %p = tile.addptr %j, %i : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
  %v = tile.load %p : tensor<2x!tile.ptr<f32>>
  %m = tile.expand_dims %v {axis = 0 : i32} : tensor<2xf32> -> tensor<1x2xf32>
  %n = tile.splat %f : f32 -> tensor<2x1xf32>
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %d = tile.dot %m, %n, %z {precision = 2 : i32} : tensor<1x2xf32>, tensor<2x1xf32>, tensor<1x1xf32>
  %s = tile.splat %c : f32 -> tensor<1x1xf32>
  %t = )") + sum +
              R"( : tensor<1x1xf32>
  %q = tile.splat %r : !tile.ptr<f32> -> tensor<1x1x!tile.ptr<f32>>
  tile.store %q, %t : tensor<1x1x!tile.ptr<f32>>)");
      kernel.pass(x).pass(c.factor).pass(c.addend).pass(r);
      double error = errorFor(kernel, false);
      EXPECT_GE(error, c.least) << sum << " " << c.addend;
      EXPECT_LE(error, c.most) << sum << " " << c.addend;
    }
  }
}

} // namespace
} // namespace nereid::interp
