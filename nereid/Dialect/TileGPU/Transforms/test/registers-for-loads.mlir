// A loop says how many registers hold all its loads, one access of each does
// not need it, and with so many that few warps are resident it says nothing.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=8},func.func(tilegpu-registers-for-loads))' | FileCheck %s

// 4 accesses of 4 floats: 16 registers for them, 16 for the sums, 8 for addresses.
// CHECK: func.func @four_loads{{.*}} tilegpu.registers = 64 : i32
func.func @four_loads(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 4096 : i32
  %zero = arith.constant dense<0.0> : tensor<4096xf32>
  %i = tile.range 0, 4096 : tensor<4096xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%total = %zero) -> (tensor<4096xf32>) : i32 {
    %offset = arith.muli %k, %step : i32
    %row = tile.addptr %x, %offset : !tile.ptr<f32>, i32
    %rows = tile.splat %row : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
    %p = tile.addptr %rows, %i : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
    %v = tile.load %p : tensor<4096x!tile.ptr<f32>>
    %s = arith.addf %total, %v : tensor<4096xf32>
    scf.yield %s : tensor<4096xf32>
  }
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
  %q = tile.addptr %base, %i : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
  tile.store %q, %sum : tensor<4096x!tile.ptr<f32>>
  return
}

// -----

// CHECK: func.func @one_load
// CHECK-NOT: tilegpu.registers
func.func @one_load(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%total = %zero) -> (tensor<1024xf32>) : i32 {
    %offset = arith.muli %k, %step : i32
    %row = tile.addptr %x, %offset : !tile.ptr<f32>, i32
    %rows = tile.splat %row : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %p = tile.addptr %rows, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %s = arith.addf %total, %v : tensor<1024xf32>
    scf.yield %s : tensor<1024xf32>
  }
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %base, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %q, %sum : tensor<1024x!tile.ptr<f32>>
  return
}
