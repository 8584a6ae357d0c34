//===- CompileTimeTest.cpp - The budget of the last stage -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are of the thread's processor, so that other work on the machine does
// not count, and the bounds are three times what was measured
// (docs/TargetCPU.md): they catch a default pipeline or a pass that explodes,
// not a percent.
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/ExpandMathTest.h"

#include "gtest/gtest.h"

#include <ctime>

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

static double threadMs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 +
         static_cast<double>(time.tv_nsec) * 1e-6;
}

TEST(CompileTime, SoftmaxIsWithinBudget) {
  CpuTarget target = *resolve("cpu");
  auto lowered = lowerText(softmaxText(4096), target);
  ASSERT_TRUE(lowered.ok()) << lowered.failure().str();
  double emitMs = 1e9, loadMs = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {
    double start = threadMs();
    auto object = emitObject(*lowered->module, target);
    double emitted = threadMs();
    ASSERT_TRUE(object.ok());
    auto code = loadObject(*object, "entry");
    double loaded = threadMs();
    ASSERT_TRUE(code.ok());
    emitMs = std::min(emitMs, emitted - start);
    loadMs = std::min(loadMs, loaded - emitted);
  }
  EXPECT_LT(emitMs, 36); // 12 measured
  EXPECT_LT(loadMs, 1);  // 0.15 measured
  RecordProperty("emitMs", std::to_string(emitMs));
}

/// Loops, not unrolled code: a larger block changes constants only.
TEST(CompileTime, CodeSizeDoesNotGrowWithTheBlock) {
  CpuTarget target = *resolve("cpu");
  auto size = [&](int columns) {
    auto lowered = lowerText(softmaxText(columns), target);
    return emitObject(*lowered->module, target)->size();
  };
  size_t small = size(256), large = size(65536);
  EXPECT_LT(large, small * 1.1);
}
