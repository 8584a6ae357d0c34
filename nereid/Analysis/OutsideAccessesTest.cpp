//===- OutsideAccessesTest.cpp - Accesses that leave their arrays ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/OutsideAccesses.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

class OutsideAccessesTest : public testing::Test {
protected:
  OutsideAccessesTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::arith::ArithDialect,
                    mlir::func::FuncDialect, mlir::scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    facts.grid = {4, 1, 1};
    facts.values["n"] = {false, 1000, 0, 0};
    facts.values["x"] = {true, 0, 0, 4000};
  }

  /// Of a function with the array %x of 1000 f32, %n = 1000, four programs of
  /// 256 indices %i, and their addresses %q.
  std::vector<OutsideAccess> of(const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(func.func @f(%x: !tile.ptr<f32> {tile.name = "x"},
                        %n: i32 {tile.name = "n"}) {
          %c256 = arith.constant 256 : i32
          %pid = tile.program_id 0
          %first = arith.muli %pid, %c256 : i32
          %r = tile.range 0, 256 : tensor<256xi32>
          %b = tile.splat %first : i32 -> tensor<256xi32>
          %i = arith.addi %b, %r : tensor<256xi32>
          %p = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
          %q = tile.addptr %p, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
          %e = tile.splat %n : i32 -> tensor<256xi32>
          )" +
            body + "return}",
        &context);
    EXPECT_TRUE(module);
    return module ? findOutsideAccesses(
                        *module->getOps<mlir::func::FuncOp>().begin(), facts)
                  : std::vector<OutsideAccess>();
  }

  mlir::MLIRContext context;
  LaunchFacts facts;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(OutsideAccessesTest, NamesProgramAndElements) {
  auto found = of("%v = tile.load %q : tensor<256x!tile.ptr<f32>>");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].program, (std::array<int32_t, 3>{3, 0, 0}));
  EXPECT_EQ(found[0].firstIndex, 768);
  EXPECT_EQ(found[0].lastIndex, 1023);
  EXPECT_EQ(found[0].elements, 1000);
  EXPECT_FALSE(found[0].hasMask);
}

TEST_F(OutsideAccessesTest, AGridWithoutProgramsAccessesNothing) {
  facts.grid = {0, 1, 1};
  EXPECT_TRUE(of("%v = tile.load %q : tensor<256x!tile.ptr<f32>>").empty());
}

TEST_F(OutsideAccessesTest, MasksBound) {
  EXPECT_TRUE(of("%m = arith.cmpi slt, %i, %e : tensor<256xi32>"
                 "%v = tile.load %q, %m : tensor<256x!tile.ptr<f32>>")
                  .empty());
  auto found = of("%m = arith.cmpi sle, %i, %e : tensor<256xi32>"
                  "%v = tile.load %q, %m : tensor<256x!tile.ptr<f32>>");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].lastIndex, 1000);
  EXPECT_TRUE(found[0].hasMask);
}

TEST_F(OutsideAccessesTest, NegativeIndicesLeaveTheArray) {
  const char *const before = R"(
    %one = arith.constant dense<-1> : tensor<256xi32>
    %b4 = arith.constant dense<990> : tensor<256xi32>
    %m = arith.cmpi slt, %i, %b4 : tensor<256xi32>
    %s = tile.addptr %q, %one : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    %v = tile.load %s, %m : tensor<256x!tile.ptr<f32>>)";
  auto found = of(before);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].firstIndex, -1);
  facts.values["x"].bytesBefore = 4;
  EXPECT_TRUE(of(before).empty());
}

TEST_F(OutsideAccessesTest, WhatDependsOnLoadedValuesIsNotKnown) {
  EXPECT_TRUE(of(R"(
    %z = arith.constant dense<0> : tensor<256xi32>
    %m = arith.cmpi slt, %i, %z : tensor<256xi32>
    %v = tile.load %q, %m : tensor<256x!tile.ptr<f32>>
    %k = arith.fptosi %v : tensor<256xf32> to tensor<256xi32>
    %t = tile.addptr %q, %k : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    %w = tile.load %t : tensor<256x!tile.ptr<f32>>)")
                  .empty());
}

TEST_F(OutsideAccessesTest, BranchesThatAreNotTakenDoNotAccess) {
  auto guarded = [&](const char *bound) {
    return of("%c = arith.constant " + std::string(bound) + R"( : i32
      %t = arith.cmpi slt, %pid, %c : i32
      scf.if %t {
        %v = tile.load %q : tensor<256x!tile.ptr<f32>>
      }
    )");
  };
  EXPECT_TRUE(guarded("3").empty());
  EXPECT_EQ(guarded("4").size(), 1u);
}

TEST_F(OutsideAccessesTest, LoopsAdvancePointers) {
  auto times = [&](const char *count) {
    return of("%c = arith.constant " + std::string(count) + R"( : i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %step = arith.constant dense<256> : tensor<256xi32>
      %s = tile.addptr %p, %r : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
      %l = scf.for %k = %zero to %c step %one iter_args(%at = %s)
          -> (tensor<256x!tile.ptr<f32>>) : i32 {
        %v = tile.load %at : tensor<256x!tile.ptr<f32>>
        %next = tile.addptr %at, %step : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
        scf.yield %next : tensor<256x!tile.ptr<f32>>
      }
    )");
  };
  EXPECT_TRUE(times("3").empty());
  auto found = times("4");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].firstIndex, 768);
}

TEST_F(OutsideAccessesTest, RangesBeginBelowZero) {
  auto found = of(R"(
    %from = tile.range -8, 8 : tensor<16xi32>
    %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
    %t = tile.addptr %base, %from : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    %v = tile.load %t : tensor<16x!tile.ptr<f32>>)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].firstIndex, -8);
  EXPECT_EQ(found[0].lastIndex, 7);
}

TEST_F(OutsideAccessesTest, TrueIsMinusOneToMinimaAndMaxima) {
  // max(true, false) is false, min is true: read at 0 or at 5000.
  auto chosen = [&](const char *how) {
    return of(std::string(R"(
      %yes = arith.constant true
      %no = arith.constant false
      %best = arith.)") +
              how + R"( %yes, %no : i1
      %in = arith.constant 0 : i32
      %out = arith.constant 5000 : i32
      %k = arith.select %best, %out, %in : i32
      %t = tile.addptr %x, %k : !tile.ptr<f32>, i32
      %v = tile.load %t : !tile.ptr<f32>)");
  };
  EXPECT_TRUE(chosen("maxsi").empty());
  EXPECT_EQ(chosen("minsi").size(), 1u);
}

TEST_F(OutsideAccessesTest, UnsignedAndNarrowNumbersWrap) {
  // As i8, 200 is -56; extended without its sign it is 200 again.
  auto extended = [&](const char *how) {
    return of(std::string(R"(
      %c = arith.constant 200 : i32
      %s = arith.trunci %c : i32 to i8
      %w = arith.)") +
              how + R"( %s : i8 to i32
      %t = tile.addptr %x, %w : !tile.ptr<f32>, i32
      %v = tile.load %t : !tile.ptr<f32>)");
  };
  EXPECT_TRUE(extended("extui").empty());
  EXPECT_EQ(extended("extsi").size(), 1u);
}

} // namespace
