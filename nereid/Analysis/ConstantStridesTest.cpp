//===- ConstantStridesTest.cpp - By how much a tile grows -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/ConstantStrides.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

using Strides = ConstantStrides::Strides;

class ConstantStridesTest : public testing::Test {
protected:
  ConstantStridesTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::arith::ArithDialect,
                    mlir::func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  /// Of the only load's pointers.
  Strides ofLoad(const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: !tile.ptr<f16>, %n: i32) {" + body + "return}",
        &context);
    EXPECT_TRUE(module);
    Strides strides;
    module->walk(
        [&](tile::LoadOp op) { strides = ConstantStrides().get(op.getPtr()); });
    return strides;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// x + rows * STRIDE + columns, through 64 bits, with STRIDE given as text.
std::string matrix(const std::string &stride) {
  return R"(
    %i = tile.range 0, 64 : tensor<64xi32>
    %j = tile.range 0, 32 : tensor<32xi32>
    %s = )" +
         stride + R"(
    %rows = arith.muli %i, %s : tensor<64xi32>
    %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %c = tile.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x32xi32>
    %cb = tile.broadcast %c : tensor<1x32xi32> -> tensor<64x32xi32>
    %o = arith.addi %rb, %cb : tensor<64x32xi32>
    %w = arith.extsi %o : tensor<64x32xi32> to tensor<64x32xi64>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %q = tile.addptr %p, %w : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi64>
    %v = tile.load %q : tensor<64x32x!tile.ptr<f16>>
  )";
}

TEST_F(ConstantStridesTest, AConstantRowStrideCountsInBytes) {
  EXPECT_EQ(ofLoad(matrix("arith.constant dense<128> : tensor<64xi32>")),
            (Strides{256, 2}));
}

TEST_F(ConstantStridesTest, ARowStrideOfTheCallerIsUnknown) {
  EXPECT_EQ(ofLoad(matrix("tile.splat %n : i32 -> tensor<64xi32>")),
            (Strides{std::nullopt, 2}));
}

TEST_F(ConstantStridesTest, TransposesSwapThem) {
  EXPECT_EQ(ofLoad(R"(
    %i = tile.range 0, 64 : tensor<64xi32>
    %c4 = arith.constant dense<2> : tensor<64xi32>
    %s = arith.shli %i, %c4 : tensor<64xi32>
    %r = tile.expand_dims %s {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %b = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x8xi32>
    %t = tile.transpose %b {order = array<i32: 1, 0>} : tensor<64x8xi32> -> tensor<8x64xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<8x64x!tile.ptr<f16>>
    %q = tile.addptr %p, %t : tensor<8x64x!tile.ptr<f16>>, tensor<8x64xi32>
    %v = tile.load %q : tensor<8x64x!tile.ptr<f16>>
  )"),
            (Strides{0, 8}));
}

TEST_F(ConstantStridesTest, ARemainderHasNone) {
  EXPECT_EQ(ofLoad(R"(
    %i = tile.range 0, 64 : tensor<64xi32>
    %s = tile.splat %n : i32 -> tensor<64xi32>
    %o = arith.remsi %i, %s : tensor<64xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %v = tile.load %q : tensor<64x!tile.ptr<f16>>
  )"),
            Strides{std::nullopt});
}

} // namespace
