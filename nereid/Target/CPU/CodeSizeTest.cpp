//===- CodeSizeTest.cpp - How much code the last stage makes --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/ExpandMathTest.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::cpu;

/// Rows of `columns` floats: maximum, sum of exponentials, quotient.
static std::string softmaxText(int columns) {
  return R"mlir(
func.func @entry(%self: !llvm.ptr, %frame: !llvm.ptr, %begin: i64, %end: i64) {
  %args = llvm.load %frame : !llvm.ptr -> !llvm.ptr
  %a1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %y = llvm.load %a1 : !llvm.ptr -> !llvm.ptr
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %n = arith.constant )mlir" +
         std::to_string(columns) + R"mlir( : i64
  %lowest = arith.constant dense<0xFF800000> : vector<16xf32>
  %nothing = arith.constant dense<0.0> : vector<16xf32>
  %unit = arith.constant 1.0 : f32
  scf.for %row = %begin to %end step %one : i64 {
    %base = arith.muli %row, %n : i64
    %m = scf.for %i = %zero to %n step %step iter_args(%best = %lowest)
        -> vector<16xf32> : i64 {
      %at = arith.addi %base, %i : i64
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
      %larger = arith.maxnumf %best, %v : vector<16xf32>
      scf.yield %larger : vector<16xf32>
    }
    %max = vector.reduction <maxnumf>, %m : vector<16xf32> into f32
    %maxes = vector.broadcast %max : f32 to vector<16xf32>
    %s = scf.for %i = %zero to %n step %step iter_args(%sum = %nothing)
        -> vector<16xf32> : i64 {
      %at = arith.addi %base, %i : i64
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
      %d = arith.subf %v, %maxes : vector<16xf32>
      %e = math.exp %d : vector<16xf32>
      %q = llvm.getelementptr %y[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %e, %q {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
      %next = arith.addf %sum, %e : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    %total = vector.reduction <add>, %s : vector<16xf32> into f32
    %scale = arith.divf %unit, %total : f32
    %scales = vector.broadcast %scale : f32 to vector<16xf32>
    scf.for %i = %zero to %n step %step : i64 {
      %at = arith.addi %base, %i : i64
      %q = llvm.getelementptr %y[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %e = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
      %r = arith.mulf %e, %scales : vector<16xf32>
      llvm.store %r, %q {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
    }
  }
  return
})mlir";
}

/// Loops, not unrolled code: a larger block changes constants only.
TEST(CodeSize, DoesNotGrowWithTheBlock) {
  CpuTarget target = *resolve("x86-64-v3"); // the same on every machine
  auto size = [&](int columns) {
    auto lowered = lowerText(softmaxText(columns), target);
    return emitObject(*lowered->module, target)->size();
  };
  size_t small = size(256), large = size(65536);
  EXPECT_LT(large, small * 1.1);
}
