//===- SymmetryTest.cpp - Combinations whose operands may change places ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/Symmetry.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

class SymmetryTest : public testing::Test {
protected:
  SymmetryTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::arith::ArithDialect,
                    mlir::math::MathDialect, mlir::func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// A combination of f32 %a and i32 %i with %b and %j.
  bool isSymmetricPair(const std::string &body, const std::string &yields) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(func.func @f(%x: tensor<8xf32>, %y: tensor<8xi32>) {
          %r:2 = "tile.reduce"(%x, %y) <{axis = 0 : i32}> ({
          ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
            )" +
            body + "\n tile.yield " + yields + R"( : f32, i32
          }) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
          return
        })",
        &context);
    bool is = false;
    module->walk([&](tile::ReduceOp op) { is = isSymmetric(op.getCombine()); });
    return is;
  }

  mlir::MLIRContext context;
};

TEST_F(SymmetryTest, CommutativeOperationsAre) {
  EXPECT_TRUE(isSymmetricPair("%c = arith.addf %a, %b : f32\n"
                              "%k = arith.maxsi %j, %i : i32",
                              "%c, %k"));
}

TEST_F(SymmetryTest, SoAreOperationsOnTheirResults) {
  EXPECT_TRUE(isSymmetricPair("%s = arith.mulf %a, %a : f32\n"
                              "%t = arith.mulf %b, %b : f32\n"
                              "%c = arith.addf %s, %t : f32\n"
                              "%k = arith.addi %i, %j : i32",
                              "%c, %k"));
}

TEST_F(SymmetryTest, DifferencesAreNot) {
  EXPECT_FALSE(isSymmetricPair("%c = arith.subf %a, %b : f32\n"
                               "%k = arith.addi %i, %j : i32",
                               "%c, %k"));
}

TEST_F(SymmetryTest, OneOfTheOperandsIsNot) {
  EXPECT_FALSE(isSymmetricPair("", "%a, %i"));
}

TEST_F(SymmetryTest, TheGreaterOfTwoIsNotWhereNeitherMayBe) {
  EXPECT_FALSE(isSymmetricPair("%g = arith.cmpf ogt, %a, %b : f32\n"
                               "%c = arith.select %g, %a, %b : f32\n"
                               "%k = arith.select %g, %i, %j : i32",
                               "%c, %k"));
}

TEST_F(SymmetryTest, OneSourceMixedIntoTheOtherIsNot) {
  EXPECT_FALSE(isSymmetricPair("%f = arith.sitofp %i : i32 to f32\n"
                               "%c = arith.addf %b, %f : f32\n"
                               "%k = arith.addi %i, %j : i32",
                               "%c, %k"));
}

} // namespace
