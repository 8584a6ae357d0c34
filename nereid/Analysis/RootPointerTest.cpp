//===- RootPointerTest.cpp - The array of an address ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RootPointer.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

class RootPointerTest : public testing::Test {
protected:
  RootPointerTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, tilegpu::TileGPUDialect,
                    mlir::arith::ArithDialect, mlir::func::FuncDialect,
                    mlir::scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The argument that the only load reads: 0 is %x, 1 is %y; -1: unknown.
  int ofLoad(const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32, "
        "%bit: i1) {" +
            body + "return}",
        &context);
    EXPECT_TRUE(module);
    tile::LoadOp load;
    module->walk([&](tile::LoadOp op) { load = op; });
    mlir::Value root = rootPointer(load.getPtr());
    return root ? static_cast<int>(
                      mlir::cast<mlir::BlockArgument>(root).getArgNumber())
                : -1;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(RootPointerTest, ArithmeticAndViewsStayInTheArray) {
  EXPECT_EQ(ofLoad("%v = tile.load %y : !tile.ptr<f32>"), 1);
  EXPECT_EQ(ofLoad(R"(
    %i = tile.range 0, 8 : tensor<8xi32>
    %s = tile.splat %y : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
    %p = tile.addptr %s, %i : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
    %e = tile.expand_dims %p {axis = 1 : i32} : tensor<8x!tile.ptr<f32>> -> tensor<8x1x!tile.ptr<f32>>
    %b = tile.broadcast %e : tensor<8x1x!tile.ptr<f32>> -> tensor<8x2x!tile.ptr<f32>>
    %t = tile.transpose %b {order = array<i32: 1, 0>} : tensor<8x2x!tile.ptr<f32>> -> tensor<2x8x!tile.ptr<f32>>
    %r = tile.reshape %t : tensor<2x8x!tile.ptr<f32>> -> tensor<8x2x!tile.ptr<f32>>
    %l, %h = tile.split %r : tensor<8x2x!tile.ptr<f32>> -> tensor<8x!tile.ptr<f32>>
    %v = tile.load %h : tensor<8x!tile.ptr<f32>>
  )"),
            1);
}

TEST_F(RootPointerTest, AnotherLayoutIsTheSameArray) {
  EXPECT_EQ(ofLoad(R"(
    %s = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #tilegpu.layout<registers = [], lanes = [1, 2, 4, 8, 16], warps = []>>
    %c = tilegpu.convert_layout %s : tensor<32x!tile.ptr<f32>, #tilegpu.layout<registers = [], lanes = [1, 2, 4, 8, 16], warps = []>> -> tensor<32x!tile.ptr<f32>, #tilegpu.layout<registers = [], lanes = [16, 8, 4, 2, 1], warps = []>>
    %v = tile.load %c : tensor<32x!tile.ptr<f32>, #tilegpu.layout<registers = [], lanes = [16, 8, 4, 2, 1], warps = []>>
  )"),
            1);
}

const char *const bounds = R"(
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
)";

TEST_F(RootPointerTest, ALoopMayAdvanceAPointer) {
  std::string loop = std::string(bounds) + R"(
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%p = %y) -> (!tile.ptr<f32>) : i32 {
      INSIDE
      %q = tile.addptr %p, %c1 : !tile.ptr<f32>, i32
      scf.yield %q : !tile.ptr<f32>
    }
    BEHIND
  )";
  auto with = [&](const std::string &inside, const std::string &behind) {
    std::string text = loop;
    text.replace(text.find("INSIDE"), 6, inside);
    text.replace(text.find("BEHIND"), 6, behind);
    return ofLoad(text);
  };
  EXPECT_EQ(with("%v = tile.load %p : !tile.ptr<f32>", ""), 1);
  EXPECT_EQ(with("", "%v = tile.load %last : !tile.ptr<f32>"), 1);
}

TEST_F(RootPointerTest, ALoopThatExchangesPointersHasNoRoot) {
  std::string loop = std::string(bounds) + R"(
    %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (!tile.ptr<f32>, !tile.ptr<f32>) : i32 {
      %v = tile.load %q : !tile.ptr<f32>
      scf.yield %q, %p : !tile.ptr<f32>, !tile.ptr<f32>
    }
  )";
  EXPECT_EQ(ofLoad(loop), -1);
}

TEST_F(RootPointerTest, WhatIsSelectedOrLoadedHasNoRoot) {
  EXPECT_EQ(ofLoad(R"(
    %p = arith.select %bit, %x, %y : !tile.ptr<f32>
    %v = tile.load %p : !tile.ptr<f32>
  )"),
            -1);
}

} // namespace
