//===- KernelTest.cpp - The kernel of a module ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Kernel.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

using namespace nereid;
using testing::HasSubstr;

namespace {

class KernelTest : public testing::Test {
protected:
  KernelTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::cf::ControlFlowDialect,
                    mlir::func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The name of the kernel found, or what is wrong.
  std::string find(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto found = tile::findKernel(*module);
    return found.ok() ? found->getSymName().str() : found.failure().message;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(KernelTest, TheAttributeTellsAKernel) {
  EXPECT_EQ(find("func.func private @f() "
                 "func.func @k() attributes {tile.kernel} {return}"),
            "k");
}

TEST_F(KernelTest, EditedModulesAreRefused) {
  EXPECT_THAT(find("func.func @f() {return}"), HasSubstr("tile.kernel"));
  EXPECT_THAT(find("func.func private @f() attributes {tile.kernel}"),
              HasSubstr("holds no kernel"));
  EXPECT_THAT(find("func.func @k() attributes {tile.kernel} {return} "
                   "func.func @l() attributes {tile.kernel} {return}"),
              HasSubstr("more than one kernel"));
  EXPECT_THAT(find("func.func @k() attributes {tile.kernel} {cf.br ^next "
                   "^next: return}"),
              HasSubstr("kernel 'k' is not one structured block"));
}

} // namespace
