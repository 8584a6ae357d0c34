//===- ElementwiseTest.cpp - What works element by element ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <map>

using namespace nereid;

TEST(Tile, ElementwiseIsWhatKeepsPositionsAndHasNoEffect) {
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  registry.insert<tile::TileDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::math::MathDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @f(%x: !tile.ptr<f32>, %s: f32) {
      %i = tile.range 0, 8 : tensor<8xi32>
      %p = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
      %q = tile.addptr %p, %i : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
      %v = tile.load %q : tensor<8x!tile.ptr<f32>>
      %e = math.exp %v : tensor<8xf32>
      %a = arith.addf %s, %s : f32
      %l, %h = arith.mului_extended %i, %i : tensor<8xi32>
      %r = tile.expand_dims %e {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
      %t = tile.inline_asm "", "=r,r" pack 1 pure (%i) : (tensor<8xi32>) -> tensor<8xi32>
      tile.store %q, %e : tensor<8x!tile.ptr<f32>>
      return
    })",
                                                        &context);
  ASSERT_TRUE(module);
  std::map<std::string, bool> found;
  module->walk([&](mlir::Operation *op) {
    found[op->getName().getStringRef().str()] = tile::isElementwise(op);
  });
  for (const char *name : {"tile.addptr", "math.exp", "arith.addf",
                           "arith.mului_extended", "tile.inline_asm"}) {
    EXPECT_TRUE(found.at(name)) << name;
  }
  for (const char *name : {"tile.range", "tile.splat", "tile.load",
                           "tile.expand_dims", "tile.store", "func.return"}) {
    EXPECT_FALSE(found.at(name)) << name;
  }
}
