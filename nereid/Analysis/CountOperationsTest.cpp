//===- CountOperationsTest.cpp - Operations that a launch asks for --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/CountOperations.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

class CountOperationsTest : public testing::Test {
protected:
  CountOperationsTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::arith::ArithDialect,
                    mlir::math::MathDialect, mlir::func::FuncDialect,
                    mlir::scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    facts.grid = {4, 1, 1};
    facts.values["n"] = {false, 1000, 0, 0};
    facts.values["x"] = {true, 0, 0, 4000};
  }

  /// Of four programs that load 256 elements %v each, of 1000, under the mask
  /// %m; %p has the addresses.
  std::optional<SourceOperations> of(const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(func.func @f(%x: !tile.ptr<f32> {tile.name = "x"},
                        %n: i32 {tile.name = "n"}) {
          %c0 = arith.constant 0 : i32
          %c1 = arith.constant 1 : i32
          %c256 = arith.constant 256 : i32
          %pid = tile.program_id 0
          %first = arith.muli %pid, %c256 : i32
          %r = tile.range 0, 256 : tensor<256xi32>
          %b = tile.splat %first : i32 -> tensor<256xi32>
          %i = arith.addi %b, %r : tensor<256xi32>
          %q = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
          %p = tile.addptr %q, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
          %e = tile.splat %n : i32 -> tensor<256xi32>
          %m = arith.cmpi slt, %i, %e : tensor<256xi32>
          %v = tile.load %p, %m : tensor<256x!tile.ptr<f32>>
          %zero = arith.constant dense<0.0> : tensor<256xf32>
          )" +
            body + " return}",
        &context);
    EXPECT_TRUE(module);
    return module ? countOperations(
                        *module->getOps<mlir::func::FuncOp>().begin(), facts)
                  : std::nullopt;
  }
  double floats(const std::string &body) {
    auto counted = of(body);
    EXPECT_TRUE(counted);
    return counted ? counted->floats : -1;
  }

  mlir::MLIRContext context;
  LaunchFacts facts;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(CountOperationsTest, MasksLetThrough) {
  EXPECT_EQ(floats("%y = arith.addf %v, %v : tensor<256xf32>"
                   "%z = math.exp %y : tensor<256xf32>"),
            2000);
}

TEST_F(CountOperationsTest, AMultiplicationWithAnAdditionIsTwo) {
  EXPECT_EQ(floats("%y = math.fma %v, %v, %v : tensor<256xf32>"), 2000);
}

TEST_F(CountOperationsTest, NeitherComparisonsNorSignsNorIntegersCount) {
  EXPECT_EQ(floats("%y = arith.negf %v : tensor<256xf32>"
                   "%z = arith.maximumf %v, %y : tensor<256xf32>"
                   "%w = math.absf %z : tensor<256xf32>"
                   "%k = arith.addi %i, %i : tensor<256xi32>"),
            0);
}

TEST_F(CountOperationsTest, WhatWasChosenInsteadOfAnIdleElementIsIdle) {
  EXPECT_EQ(
      floats("%s = arith.select %m, %v, %zero : tensor<256xi1>, tensor<256xf32>"
             "%y = arith.mulf %s, %s : tensor<256xf32>"),
      1000);
}

TEST_F(CountOperationsTest, SumsLeaveIdleElementsOut) {
  const char *sum = R"(%s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %c: f32):
        %d = arith.addf %a, %c : f32
        tile.yield %d : f32
      }) : (tensor<256xf32>) -> f32)";
  EXPECT_EQ(floats(sum), 1000 - 4);
  // The sum has been loaded for, and goes with every element.
  EXPECT_EQ(floats(std::string(sum) +
                   "%w = tile.splat %s : f32 -> tensor<256xf32>"
                   "%y = arith.divf %v, %w : tensor<256xf32>"),
            1000 - 4 + 1000);
}

TEST_F(CountOperationsTest, AWholeRowThatIsIdleHasNoSum) {
  facts.values["n"].integer = 512;
  EXPECT_EQ(floats(R"(%s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %c: f32):
        %d = arith.addf %a, %c : f32
        tile.yield %d : f32
      }) : (tensor<256xf32>) -> f32
      %t = arith.mulf %s, %s : f32)"),
            2 * 255 + 2);
}

TEST_F(CountOperationsTest, RunningSumsToo) {
  EXPECT_EQ(floats(R"(%s = "tile.scan"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %c: f32):
        %d = arith.addf %a, %c : f32
        tile.yield %d : f32
      }) : (tensor<256xf32>) -> tensor<256xf32>
      %t = arith.mulf %s, %s : tensor<256xf32>)"),
            1000 - 4 + 1000);
}

/// One element on several rows of a block: computed for each of them.
TEST_F(CountOperationsTest, IdleElementsMoveWithShapes) {
  EXPECT_EQ(
      floats("%w = tile.expand_dims %v {axis = 0 : i32} : tensor<256xf32> -> "
             "tensor<1x256xf32>"
             "%g = tile.broadcast %w : tensor<1x256xf32> -> "
             "tensor<3x256xf32>"
             "%t = tile.transpose %g {order = array<i32: 1, 0>} : "
             "tensor<3x256xf32> -> "
             "tensor<256x3xf32>"
             "%y = arith.addf %t, %t : tensor<256x3xf32>"),
      3000);
}

/// 250 of n = 1000 elements a turn, in turns of 256: the last one is idle in
/// part, what was summed up before is not.
TEST_F(CountOperationsTest, ALoopsSumIsIdleWhereAllTurnsAre) {
  facts.grid = {1, 1, 1};
  EXPECT_EQ(floats(R"(
    %sum = scf.for %k = %c0 to %n step %c256
        iter_args(%s = %zero) -> (tensor<256xf32>) : i32 {
      %f = tile.splat %k : i32 -> tensor<256xi32>
      %g = arith.addi %f, %r : tensor<256xi32>
      %h = arith.cmpi slt, %g, %e : tensor<256xi32>
      %o = tile.addptr %q, %g : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
      %l = tile.load %o, %h : tensor<256x!tile.ptr<f32>>
      %t = arith.addf %s, %l : tensor<256xf32>
      scf.yield %t : tensor<256xf32>
    }
    %y = arith.mulf %sum, %sum : tensor<256xf32>)"),
            1000 + 256);
}

/// Eight turns of 128 elements, and the first has one element: each of the 897
/// is added to a sum, which has been empty where the first turn was idle.
TEST_F(CountOperationsTest, ASumThatWasIdleAtFirstIsAddedTo) {
  facts.grid = {1, 1, 1};
  EXPECT_EQ(floats(R"(
    %c8 = arith.constant 8 : i32
    %c128 = arith.constant 128 : i32
    %t = tile.range 0, 128 : tensor<128xi32>
    %less = arith.constant dense<127> : tensor<128xi32>
    %none = arith.constant dense<0> : tensor<128xi32>
    %empty = arith.constant dense<0.0> : tensor<128xf32>
    %all = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
    %sum = scf.for %k = %c0 to %c8 step %c1
        iter_args(%s = %empty) -> (tensor<128xf32>) : i32 {
      %f = arith.muli %k, %c128 : i32
      %g = tile.splat %f : i32 -> tensor<128xi32>
      %h = arith.addi %g, %t : tensor<128xi32>
      %j = arith.subi %h, %less : tensor<128xi32>
      %w = arith.cmpi sge, %j, %none : tensor<128xi32>
      %o = tile.addptr %all, %j : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
      %l = tile.load %o, %w : tensor<128x!tile.ptr<f32>>
      %u = arith.addf %s, %l : tensor<128xf32>
      scf.yield %u : tensor<128xf32>
    })"),
            897);
}

/// The first 64 of 256 elements, and the others.
static const std::string halves =
    "%limit = arith.constant dense<64> : tensor<256xi32>"
    "%left = arith.cmpi slt, %r, %limit : tensor<256xi32>"
    "%right = arith.cmpi sge, %r, %limit : tensor<256xi32>"
    "%a = tile.load %q, %left : tensor<256x!tile.ptr<f32>>"
    "%c = tile.load %q, %right : tensor<256x!tile.ptr<f32>>";

TEST_F(CountOperationsTest, AChoiceIsIdleWhereTheChosenOneIs) {
  facts.grid = {1, 1, 1};
  auto chosen = [&](const std::string &by, const std::string &yes,
                    const std::string &no) {
    return floats(halves + "%s = arith.select " + by + ", " + yes + ", " + no +
                  " : tensor<256xi1>, tensor<256xf32>"
                  "%y = arith.mulf %s, %s : tensor<256xf32>");
  };
  EXPECT_EQ(chosen("%left", "%a", "%c"), 256);
  EXPECT_EQ(chosen("%left", "%c", "%a"), 0);
  EXPECT_EQ(chosen("%left", "%a", "%zero"), 64);
  // Which one is chosen depends on loaded values: idle is what both are.
  std::string unknown = "%w = arith.cmpf ogt, %v, %zero : tensor<256xf32>";
  EXPECT_EQ(floats(halves + unknown +
                   "%s = arith.select %w, %a, %c : tensor<256xi1>, "
                   "tensor<256xf32>"
                   "%y = arith.mulf %s, %s : tensor<256xf32>"),
            256);
  EXPECT_EQ(floats(halves + unknown +
                   "%s = arith.select %w, %a, %a : tensor<256xi1>, "
                   "tensor<256xf32>"
                   "%y = arith.mulf %s, %s : tensor<256xf32>"),
            64);
}

TEST_F(CountOperationsTest, ElementsOfTwoLoadsAreIdleWhereBothAre) {
  facts.grid = {1, 1, 1};
  EXPECT_EQ(floats(halves + "%s = arith.addf %a, %c : tensor<256xf32>"
                            "%y = arith.mulf %s, %s : tensor<256xf32>"),
            256);
  EXPECT_EQ(floats(halves + "%s = arith.mulf %a, %c : tensor<256xf32>"
                            "%y = arith.mulf %s, %s : tensor<256xf32>"),
            512);
  EXPECT_EQ(floats(halves + "%s = arith.addf %a, %a : tensor<256xf32>"
                            "%y = arith.mulf %s, %s : tensor<256xf32>"),
            128);
  EXPECT_EQ(floats(halves + "%s = math.fma %a, %a, %c : tensor<256xf32>"
                            "%y = arith.mulf %s, %s : tensor<256xf32>"),
            2 * 64 + 256);
}

/// A row's maximum is of its columns that are not idle; what is left of it
/// there is idle, as the columns were. Columns of a row that is not loaded are
/// idle, too.
TEST_F(CountOperationsTest, WhatIsTheSameForARowGoesWithItsIdleElements) {
  facts.grid = {1, 1, 1};
  const std::string outer =
      "%a2 = tile.expand_dims %a {axis = 1 : i32} : tensor<256xf32> -> "
      "tensor<256x1xf32>"
      "%c2 = tile.expand_dims %c {axis = 0 : i32} : tensor<256xf32> -> "
      "tensor<1x256xf32>"
      "%a3 = tile.broadcast %a2 : tensor<256x1xf32> -> tensor<256x256xf32>"
      "%c3 = tile.broadcast %c2 : tensor<1x256xf32> -> tensor<256x256xf32>";
  EXPECT_EQ(floats(halves + outer +
                   "%y = arith.subf %a3, %c3 : tensor<256x256xf32>"
                   "%z = math.exp %y : tensor<256x256xf32>"),
            2 * 64 * 192);
  EXPECT_EQ(floats(halves + R"(%s = "tile.reduce"(%a) <{axis = 0 : i32}> ({
      ^bb0(%d: f32, %f: f32):
        %g = arith.maximumf %d, %f : f32
        tile.yield %g : f32
      }) : (tensor<256xf32>) -> f32
      %w = tile.splat %s : f32 -> tensor<256xf32>
      %y = arith.subf %a, %w : tensor<256xf32>
      %z = math.exp %y : tensor<256xf32>)"),
            2 * 64);
}

TEST_F(CountOperationsTest, ProductsOfWhatIsLetThrough) {
  facts.grid = {1, 1, 1};
  facts.values["n"].integer = 24; // row 0, and half of row 1, of 16 x 16
  auto counted =
      of("%a = tile.reshape %v : tensor<256xf32> -> tensor<16x16xf32>"
         "%c = arith.constant dense<0.0> : tensor<16x16xf32>"
         "%d = tile.dot %a, %a, %c : tensor<16x16xf32>, "
         "tensor<16x16xf32>, tensor<16x16xf32>"
         "%y = arith.addf %d, %d : tensor<16x16xf32>");
  ASSERT_TRUE(counted);
  // k = 0: 2 rows, 16 columns; k = 1: 2 rows, 8 columns; the others nothing.
  EXPECT_EQ(counted->products, 2 * (2 * 16 + 2 * 8));
  EXPECT_EQ(counted->floatProducts, counted->products);
  EXPECT_EQ(counted->blockProducts, 2 * 16 * 16 * 16);
  EXPECT_EQ(counted->floats, 2 * 16);
}

TEST_F(CountOperationsTest, WhatHangsOnLoadedValuesIsUnknown) {
  const std::string head = "%first_one = tile.load %x : !tile.ptr<f32>"
                           "%limit = arith.fptosi %first_one : f32 to i32 ";
  EXPECT_FALSE(of(head + R"(scf.for %k = %c0 to %limit step %c1 : i32 {
      %y = arith.addf %v, %v : tensor<256xf32>
    })"));
  // A loop without such operations is no matter.
  EXPECT_EQ(floats(head + R"(scf.for %k = %c0 to %limit step %c1 : i32 {
      tile.store %p, %v, %m : tensor<256x!tile.ptr<f32>>
    })"),
            0);
}

TEST_F(CountOperationsTest, OfLargeGridsSomeProgramsTell) {
  facts.grid = {1 << 20, 1, 1};
  facts.values["n"].integer = 1 << 28;
  EXPECT_EQ(floats("%y = arith.addf %v, %v : tensor<256xf32>"), 1 << 28);
  facts.grid = {0, 1, 1};
  EXPECT_EQ(floats("%y = arith.addf %v, %v : tensor<256xf32>"), 0);
}

} // namespace
