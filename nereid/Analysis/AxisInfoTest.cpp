//===- AxisInfoTest.cpp - How integers and addresses run ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/AxisInfo.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;
using Numbers = llvm::SmallVector<int64_t>;

namespace {

class AxisInfoTest : public testing::Test {
protected:
  AxisInfoTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::arith::ArithDialect,
                    mlir::func::FuncDialect, mlir::scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The facts on the only load's pointers in a function with these arguments.
  AxisInfo ofLoad(const std::string &body) {
    parse(body);
    return analysis->get(load().getPtr());
  }
  void parse(const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, "
        "%n: i32 {tile.divisibility = 16 : i32}, %s: i32) {" +
            body + "return}",
        &context);
    ASSERT_TRUE(module);
    analysis.emplace(*module->getOps<mlir::func::FuncOp>().begin());
  }
  tile::LoadOp load() {
    tile::LoadOp found;
    module->walk([&](tile::LoadOp op) { found = op; });
    return found;
  }
  unsigned width(unsigned axis) {
    return analysis->vectorWidth(load().getPtr(), load().getMask(), axis, 16);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<AxisInfoAnalysis> analysis;
};

const char *const row = R"(
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %p = tile.splat %x : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %q = tile.addptr %p, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
)";

} // namespace

TEST_F(AxisInfoTest, ARowIsOneRun) {
  AxisInfo info = ofLoad(std::string(row) +
                         "%v = tile.load %q : tensor<1024x!tile.ptr<f16>>");
  EXPECT_EQ(info.contiguity, Numbers{1024});
  EXPECT_EQ(info.divisibility, Numbers{16});
  EXPECT_EQ(width(0), 8u);
}

TEST_F(AxisInfoTest, AMaskCutsOnlyAtMultiplesOfTheBound) {
  for (auto [bound, expected] : {std::pair("%n", 8u), std::pair("%s", 1u)}) {
    parse(std::string(row) + "%b = tile.splat " + bound + R"(
        : i32 -> tensor<1024xi32>
      %m = arith.cmpi slt, %i, %b : tensor<1024xi32>
      %v = tile.load %q, %m : tensor<1024x!tile.ptr<f16>>
    )");
    EXPECT_EQ(width(0), expected) << bound;
  }
}

TEST_F(AxisInfoTest, AnOddStartBreaksAlignment) {
  parse(R"(
    %i = tile.range 2, 66 : tensor<64xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %q = tile.addptr %p, %i : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %v = tile.load %q : tensor<64x!tile.ptr<f16>>
  )");
  EXPECT_EQ(width(0), 2u);
}

TEST_F(AxisInfoTest, ATileRunsAlongItsColumns) {
  parse(R"(
    %i = tile.range 0, 64 : tensor<64xi32>
    %j = tile.range 0, 32 : tensor<32xi32>
    %rows = tile.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tile.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %stride = tile.splat %n : i32 -> tensor<64x1xi32>
    %offset = arith.muli %rows, %stride : tensor<64x1xi32>
    %a = tile.broadcast %offset : tensor<64x1xi32> -> tensor<64x32xi32>
    %b = tile.broadcast %columns : tensor<1x32xi32> -> tensor<64x32xi32>
    %o = arith.addi %a, %b : tensor<64x32xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %q = tile.addptr %p, %o : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %v = tile.load %q : tensor<64x32x!tile.ptr<f16>>
  )");
  EXPECT_EQ(analysis->order(load().getPtr()),
            (llvm::SmallVector<unsigned>{1, 0}));
  EXPECT_EQ(width(1), 8u);
  EXPECT_EQ(width(0), 1u);
}

TEST_F(AxisInfoTest, RowsOfADivisibleStrideKeepTheirDivisor) {
  // x + rows[:, None] * stride + columns[None, :] with 16 | stride.
  parse(R"(
    %i = tile.range 0, 64 : tensor<64xi32>
    %j = tile.range 0, 32 : tensor<32xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %rows = arith.muli %i, %ns : tensor<64xi32>
    %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %c = tile.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x32xi32>
    %cb = tile.broadcast %c : tensor<1x32xi32> -> tensor<64x32xi32>
    %o = arith.addi %rb, %cb : tensor<64x32xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %q = tile.addptr %p, %o : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %v = tile.load %q : tensor<64x32x!tile.ptr<f16>>
  )");
  EXPECT_EQ(width(1), 8u);
}

TEST_F(AxisInfoTest, LoopsKeepWhatEveryIterationKeeps) {
  for (auto [step, expected] : {std::pair("%n", 8u), std::pair("%s", 1u)}) {
    parse(std::string(row) + R"(
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %by = tile.splat )" +
          step + R"( : i32 -> tensor<1024xi32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%at = %q)
          -> (tensor<1024x!tile.ptr<f16>>) : i32 {
        %v = tile.load %at : tensor<1024x!tile.ptr<f16>>
        %next = tile.addptr %at, %by : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
        scf.yield %next : tensor<1024x!tile.ptr<f16>>
      }
    )");
    EXPECT_EQ(width(0), expected) << step;
  }
}

TEST_F(AxisInfoTest, ARemainderRunsBetweenMultiples) {
  // (pid * 64 + range) % n with 16 | n, as matrix products wrap their rows.
  parse(R"(
    %pid = tile.program_id 0
    %c64 = arith.constant 64 : i32
    %base = arith.muli %pid, %c64 : i32
    %bs = tile.splat %base : i32 -> tensor<64xi32>
    %i = tile.range 0, 64 : tensor<64xi32>
    %sum = arith.addi %bs, %i : tensor<64xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %o = arith.remsi %sum, %ns : tensor<64xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %v = tile.load %q : tensor<64x!tile.ptr<f16>>
  )");
  EXPECT_EQ(analysis->get(load().getPtr()).contiguity, Numbers{16});
  EXPECT_EQ(width(0), 8u);
}

TEST_F(AxisInfoTest, TheUsersWordCounts) {
  AxisInfo info = ofLoad(R"(
    %i = tile.range 0, 64 : tensor<64xi32>
    %ns = tile.splat %s : i32 -> tensor<64xi32>
    %o = arith.muli %i, %ns : tensor<64xi32>
    %h = tile.hint %o {contiguity = array<i64: 8>, divisibility = array<i64: 8>} : tensor<64xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %q = tile.addptr %p, %h : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %v = tile.load %q : tensor<64x!tile.ptr<f16>>
  )");
  EXPECT_EQ(info.contiguity, Numbers{8});
  EXPECT_EQ(width(0), 8u);
}

TEST_F(AxisInfoTest, ARowOfAnyLengthIsOneRun) {
  AxisInfo info = ofLoad(R"(
    %i = tile.range 0, 1000 : tensor<1000xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<1000x!tile.ptr<f16>>
    %q = tile.addptr %p, %i : tensor<1000x!tile.ptr<f16>>, tensor<1000xi32>
    %v = tile.load %q : tensor<1000x!tile.ptr<f16>>
  )");
  EXPECT_EQ(info.contiguity, Numbers{1000});
}

TEST_F(AxisInfoTest, BelowZeroQuotientsAndRemaindersDoNotRun) {
  // -32 // 32 is -1 and -31 // 32 is 0; -32 % 32 is 0 and -31 % 32 is -31.
  auto of = [&](const char *from, const char *how) {
    return ofLoad(std::string("%i = tile.range ") + from +
                  R"( : tensor<64xi32>
      %c = arith.constant dense<32> : tensor<64xi32>
      %o = arith.)" +
                  how + R"( %i, %c : tensor<64xi32>
      %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
      %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
      %v = tile.load %q : tensor<64x!tile.ptr<f16>>)");
  };
  EXPECT_EQ(of("-64, 0", "remsi").contiguity, Numbers{1});
  EXPECT_EQ(of("-64, 0", "divsi").constancy, Numbers{1});
  EXPECT_EQ(of("-64, 0", "remui").contiguity, Numbers{32}); // of 2^32 - 64
  EXPECT_EQ(of("0, 64", "remsi").contiguity, Numbers{32});
  EXPECT_EQ(of("0, 64", "divsi").constancy, Numbers{32});
}

TEST_F(AxisInfoTest, AnArgumentMayBeNegative) {
  // (range + s) % 32, where 16 | s: s = -32 is a number like any other.
  AxisInfo info = ofLoad(R"(
    %i = tile.range 0, 64 : tensor<64xi32>
    %s16 = tile.splat %n : i32 -> tensor<64xi32>
    %sum = arith.addi %i, %s16 : tensor<64xi32>
    %c = arith.constant dense<32> : tensor<64xi32>
    %o = arith.remsi %sum, %c : tensor<64xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %v = tile.load %q : tensor<64x!tile.ptr<f16>>
  )");
  EXPECT_EQ(info.contiguity, Numbers{1});
}

TEST_F(AxisInfoTest, ProgramsInGroupsKeepTheWidthOfTheirRows) {
  // The columns of a matrix product whose programs go in groups: the divisor
  // min(programs - first, 8) is taken for positive.
  parse(R"(
    %pid = tile.program_id 0
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    %tiles = arith.divsi %s, %c64 : i32
    %inGroup = arith.muli %tiles, %c8 : i32
    %group = arith.divsi %pid, %inGroup : i32
    %first = arith.muli %group, %c8 : i32
    %left = arith.subi %tiles, %first : i32
    %rows = arith.minsi %left, %c8 : i32
    %place = arith.remsi %pid, %inGroup : i32
    %column = arith.divsi %place, %rows : i32
    %base = arith.muli %column, %c64 : i32
    %bs = tile.splat %base : i32 -> tensor<64xi32>
    %i = tile.range 0, 64 : tensor<64xi32>
    %sum = arith.addi %bs, %i : tensor<64xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %o = arith.remsi %sum, %ns : tensor<64xi32>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %v = tile.load %q : tensor<64x!tile.ptr<f16>>
  )");
  EXPECT_EQ(width(0), 8u);
}

TEST_F(AxisInfoTest, NarrowRunsWrap) {
  // As i8, 0 ... 255 is 0 ... 127, -128 ... -1; plus 100 it breaks at 28.
  AxisInfo info = ofLoad(R"(
    %i = tile.range 0, 256 : tensor<256xi32>
    %t = arith.trunci %i : tensor<256xi32> to tensor<256xi8>
    %c = arith.constant dense<100> : tensor<256xi8>
    %o = arith.addi %t, %c : tensor<256xi8>
    %p = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
    %q = tile.addptr %p, %o : tensor<256x!tile.ptr<f16>>, tensor<256xi8>
    %v = tile.load %q : tensor<256x!tile.ptr<f16>>
  )");
  EXPECT_EQ(info.contiguity, Numbers{4});
}
