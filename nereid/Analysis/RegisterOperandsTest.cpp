//===- RegisterOperandsTest.cpp - Left operands that may be registers -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RegisterOperands.h"

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

class RegisterOperandsTest : public testing::Test {
protected:
  RegisterOperandsTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, tilegpu::TileGPUDialect,
                    mlir::arith::ArithDialect, mlir::math::MathDialect,
                    mlir::func::FuncDialect, mlir::scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static std::string dot(const std::string &result, const std::string &left) {
    return "%" + result + " = tile.dot %" + left +
           ", %y, %zero : tensor<64x64xf16>, tensor<64x64xf16>, "
           "tensor<64x64xf32>\n";
  }
  static std::string narrow(const std::string &result,
                            const std::string &from) {
    return "%" + result + " = arith.truncf %" + from +
           " : tensor<64x64xf32> to tensor<64x64xf16>\n";
  }
  static std::string loop(const std::string &body,
                          const std::string &next = "carried") {
    return "%r = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %zero) "
           "-> (tensor<64x64xf32>) : i32 {\n" +
           body + "scf.yield %" + next + " : tensor<64x64xf32>\n}\n";
  }

  /// The last product of `body`, which may use the tensors %x, %y of f16 and
  /// %zero of f32.
  tile::DotOp lastDot(const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func @f(%a: !tile.ptr<f16>, %n: i32, %bit: i1) {
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %zero = arith.constant dense<0.0> : tensor<64x64xf32>
        %ps = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
        %x = tile.load %ps : tensor<64x64x!tile.ptr<f16>>
        %y = tile.load %ps : tensor<64x64x!tile.ptr<f16>>
        )" + body + "return}",
                                                     &context);
    EXPECT_TRUE(module);
    tile::DotOp last;
    module->walk([&](tile::DotOp op) { last = op; });
    return last;
  }
  bool ofLastDot(const std::string &body) {
    return mayBeRegisterOperand(lastDot(body));
  }
  bool isKept(const std::string &body, unsigned threads = 128) {
    tile::DotOp last = lastDot(body);
    keepLeftOperands(last->getParentOfType<mlir::func::FuncOp>(), threads, 255);
    return last->hasAttr(leftInRegistersAttr);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(RegisterOperandsTest, ComputedInTheIteration) {
  EXPECT_TRUE(
      ofLastDot(loop(dot("s", "x") + narrow("p", "s") + dot("t", "p"))));
}

// Registers hold 16-bit operands only, whatever else is true of them.
TEST_F(RegisterOperandsTest, OfEightBits) {
  tile::DotOp last =
      lastDot("%q = tile.splat %bit : i1 -> tensor<64x64xi1>\n"
              "%w = arith.extsi %q : tensor<64x64xi1> to tensor<64x64xi8>\n"
              "%z = arith.constant dense<0> : tensor<64x64xi32>\n"
              "%t = tile.dot %w, %w, %z : tensor<64x64xi8>, tensor<64x64xi8>, "
              "tensor<64x64xi32>\n");
  EXPECT_EQ(leftOperandLimit(last), LeftOperandLimit::Type);
}

TEST_F(RegisterOperandsTest, DefinedInFrontOfTheLoop) {
  EXPECT_FALSE(ofLastDot(loop(dot("s", "x"))));
  EXPECT_FALSE(
      ofLastDot(dot("s", "x") + narrow("p", "s") + loop(dot("t", "p"))));
}

// Nothing keeps the sum inside the loop.
TEST_F(RegisterOperandsTest, ComputedFromWhatTheLoopDoesNotChange) {
  EXPECT_FALSE(ofLastDot(
      loop("%p = arith.addf %x, %y : tensor<64x64xf16>\n" + dot("t", "p"))));
}

TEST_F(RegisterOperandsTest, ComputedFromWhatTheLoopCarries) {
  EXPECT_TRUE(ofLastDot(loop(narrow("p", "carried") + dot("t", "p"), "t")));
}

TEST_F(RegisterOperandsTest, Carried) {
  EXPECT_FALSE(
      ofLastDot("%r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %x) -> "
                "(tensor<64x64xf16>) : i32 {\n" +
                dot("s", "q") + narrow("p", "s") +
                "scf.yield %p : tensor<64x64xf16>}\n"));
}

TEST_F(RegisterOperandsTest, LoadedAndChangedInTheIteration) {
  EXPECT_TRUE(
      ofLastDot(loop("%l = tile.load %ps : tensor<64x64x!tile.ptr<f16>>\n"
                     "%p = arith.addf %l, %l : tensor<64x64xf16>\n" +
                     dot("t", "p"))));
}

constexpr const char *branch =
    "%w = scf.if %bit -> (i32) { scf.yield %c1 : i32 } else { scf.yield %c0 : "
    "i32 }\n";

TEST_F(RegisterOperandsTest, BranchBetween) {
  EXPECT_FALSE(ofLastDot(
      loop(dot("s", "x") + narrow("p", "s") + branch + dot("t", "p"))));
  EXPECT_FALSE(
      ofLastDot(dot("s", "x") + narrow("p", "s") + branch + dot("t", "p")));
}

TEST_F(RegisterOperandsTest, BranchInFrontOfTheDefinition) {
  EXPECT_TRUE(ofLastDot(
      loop(dot("s", "x") + branch + narrow("p", "s") + dot("t", "p"))));
}

// An exact division has a rare case that is called; an approximate one none.
TEST_F(RegisterOperandsTest, CallBetween) {
  auto divided = [&](const std::string &flags) {
    return loop(dot("s", "x") + narrow("p", "s") + "%d = arith.divf %s, %s " +
                flags + " : tensor<64x64xf32>\n" + dot("t", "p"));
  };
  EXPECT_FALSE(ofLastDot(divided("")));
  EXPECT_TRUE(ofLastDot(divided("fastmath<afn>")));
}

TEST_F(RegisterOperandsTest, ResultOfABranch) {
  EXPECT_FALSE(ofLastDot(
      loop("%p = scf.if %bit -> (tensor<64x64xf16>) {\n" + dot("s", "x") +
           narrow("q", "s") + "scf.yield %q : tensor<64x64xf16>\n} else {\n" +
           "scf.yield %x : tensor<64x64xf16>\n}\n" + branch + dot("t", "p"))));
}

TEST_F(RegisterOperandsTest, KeptThroughALoopWithoutBranches) {
  EXPECT_TRUE(isKept(loop(dot("s", "x"))));
  EXPECT_FALSE(isKept(loop(dot("s", "x") + branch)));
  EXPECT_FALSE(isKept(loop(branch + dot("s", "x"))));
  EXPECT_FALSE(isKept(dot("s", "x")));
}

// The loop around it has a branch: the inner loop.
TEST_F(RegisterOperandsTest, NotKeptThroughTwoLoops) {
  std::string inner = loop(dot("s", "x"));
  EXPECT_FALSE(
      isKept("scf.for %j = %c0 to %n step %c1 : i32 {\n" + inner + "}\n"));
  EXPECT_TRUE(isKept("scf.for %j = %c0 to %n step %c1 : i32 {\n"
                     "%x2 = arith.addf %x, %x : tensor<64x64xf16>\n" +
                     loop(dot("s", "x2")) + "}\n"));
}

// Of 64 threads: 64 registers carried, 32 of %x, 64 of each result.
TEST_F(RegisterOperandsTest, NotKeptWhereRegistersAreScarce) {
  EXPECT_TRUE(isKept(loop(dot("s", "x")), 64));
  EXPECT_FALSE(isKept(loop(dot("t", "x") + dot("s", "x")), 64));
  EXPECT_TRUE(isKept(loop(dot("t", "x") + dot("s", "x"))));
}

// It is in shared memory anyway.
TEST_F(RegisterOperandsTest, NotKeptForOneOfTwoProducts) {
  std::string second = "%r2 = scf.for %i = %c0 to %n step %c1 iter_args("
                       "%carried = %zero) -> (tensor<64x64xf32>) : i32 {\n" +
                       dot("u", "x") +
                       "scf.yield %carried : tensor<64x64xf32>\n}\n";
  EXPECT_TRUE(isKept(second + loop(dot("s", "x"))));
  EXPECT_FALSE(isKept(second + loop(branch + dot("s", "x"))));
  EXPECT_FALSE(isKept(loop(branch + dot("s", "x")) + second));
}

TEST_F(RegisterOperandsTest, KeptIsRegisters) {
  tile::DotOp product = lastDot(loop(dot("s", "x")));
  EXPECT_FALSE(mayBeRegisterOperand(product));
  product->setAttr(leftInRegistersAttr, mlir::UnitAttr::get(&context));
  EXPECT_TRUE(mayBeRegisterOperand(product));
}

TEST_F(RegisterOperandsTest, ConstantOutsideLoops) {
  EXPECT_TRUE(
      ofLastDot("%one = arith.constant dense<1.0> : tensor<64x64xf16>\n" +
                dot("t", "one")));
}

} // namespace
