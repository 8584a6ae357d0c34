//===- IndexPolynomialTest.cpp ----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/IndexPolynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace nereid;

namespace {

/// A function of two arguments, %m and %n; its operations by their place.
class IndexPolynomials : public ::testing::Test {
protected:
  IndexPolynomials() {
    context
        .loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
  }
  void parse(const std::string &body) {
    module = parseSourceString<ModuleOp>(
        "func.func @f(%m: i32, %n: i32) {\n" + body + "\nreturn\n}", &context);
    ASSERT_TRUE(module);
    module->walk([&](func::FuncOp function) {
      m = function.getArgument(0);
      n = function.getArgument(1);
    });
  }
  /// What the value of that attribute on an operation is.
  const IndexPolynomial &read(const char *name) {
    Value value;
    module->walk([&](Operation *op) {
      if (op->hasAttr(name)) {
        value = op->getResult(0);
      }
    });
    return reader.read(value);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  IndexReader reader;
  Value m, n;
};

} // namespace

TEST_F(IndexPolynomials, SumsAndProductsAreExpanded) {
  parse(R"(
    %two = arith.constant 2 : i32
    %sum = arith.addi %m, %two : i32
    %difference = arith.subi %n, %m : i32
    %product = arith.muli %sum, %difference {out} : i32
  )");
  IndexPolynomial a(m), b(n), two(2);
  EXPECT_EQ(read("out"), (a + two) * (b - a));
  EXPECT_EQ(read("out"), b * a + two * b - a * a - two * a);
}

TEST_F(IndexPolynomials, WhatIsTakenAwayIsGone) {
  parse("");
  IndexPolynomial a(m), b(n);
  EXPECT_TRUE((a * b - b * a).isZero());
  EXPECT_EQ((a + IndexPolynomial(5) - a).getConstant(), 5);
  EXPECT_EQ(a.getConstant(), std::nullopt);
}

TEST_F(IndexPolynomials, AreDividedByWhatDividesEachFactor) {
  parse("");
  IndexPolynomial four = IndexPolynomial(m) * IndexPolynomial(4);
  EXPECT_EQ(four.dividedBy(2), IndexPolynomial(m) * IndexPolynomial(2));
  EXPECT_EQ(four.dividedBy(3), std::nullopt);
  EXPECT_EQ(quotientOf({m, n, m}, {m}), (IndexPolynomial::Product{n, m}));
  EXPECT_EQ(quotientOf({m}, {n}), std::nullopt);
}

// 3 + (counter - 16) / 8 * (8 * m): what the argument is in each iteration.
TEST_F(IndexPolynomials, WhatALoopStepsIsOfItsCounter) {
  parse(R"(
    %three = arith.constant 3 : i32
    %eight = arith.constant 8 : i32
    %sixteen = arith.constant 16 : i32
    %step = arith.muli %m, %eight : i32
    %r = scf.for %i = %sixteen to %n step %eight iter_args(%at = %three) -> (i32) : i32 {
      %here = arith.addi %at, %i {out} : i32
      %next = arith.addi %at, %step : i32
      scf.yield %next : i32
    }
  )");
  Value counter;
  module->walk([&](scf::ForOp loop) { counter = loop.getInductionVar(); });
  IndexPolynomial i(counter), a(m);
  EXPECT_EQ(read("out"),
            IndexPolynomial(3) + (i - IndexPolynomial(16)) * a + i);
}

// The step is of the iteration, or the argument is stepped by itself.
TEST_F(IndexPolynomials, WhatALoopStepsOtherwiseIsAnAtom) {
  parse(R"(
    %one = arith.constant 1 : i32
    %r:2 = scf.for %i = %one to %n step %one iter_args(%at = %one, %twice = %one) -> (i32, i32) : i32 {
      %here = arith.addi %at, %twice {out} : i32
      %next = arith.addi %at, %i : i32
      %more = arith.addi %twice, %twice : i32
      scf.yield %next, %more : i32, i32
    }
  )");
  Value at, twice;
  module->walk([&](scf::ForOp loop) {
    at = loop.getRegionIterArgs()[0];
    twice = loop.getRegionIterArgs()[1];
  });
  EXPECT_EQ(read("out"), IndexPolynomial(at) + IndexPolynomial(twice));
}
