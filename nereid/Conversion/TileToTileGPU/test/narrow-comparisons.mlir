// RUN: nereid-opt --split-input-file --pass-pipeline='builtin.module(func.func(tile-narrow-comparisons),tile-to-tilegpu{target=sm_90 warps=1})' %s | FileCheck %s

// start + i < size in 64 bits: the range is compared, in 32, with what is left.
// CHECK-LABEL: func.func @descriptor
func.func @descriptor(%x: !tile.ptr<f32>, %start: i32, %size: i32) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %w = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
  %s = arith.extsi %start : i32 to i64
  %n = arith.extsi %size : i32 to i64
  %ss = tile.splat %s : i64 -> tensor<64xi64>
  %ns = tile.splat %n : i64 -> tensor<64xi64>
  %at = arith.addi %ss, %w : tensor<64xi64>
  // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
  // CHECK: %[[LOW:.*]] = arith.maxsi %[[LEFT]], %c0
  // CHECK: %[[CUT:.*]] = arith.minsi %[[LOW]], %c64
  // CHECK: %[[LIMIT:.*]] = arith.trunci %[[CUT]] : i64 to i32
  // CHECK: %[[SPLAT:.*]] = tile.splat %[[LIMIT]] : i32
  // CHECK: arith.cmpi slt, %{{.*}}, %[[SPLAT]] : tensor<64xi32,
  %inside = arith.cmpi slt, %at, %ns : tensor<64xi64>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %p, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
  %v = arith.constant dense<1.0> : tensor<64xf32>
  tile.store %q, %v, %inside : tensor<64x!tile.ptr<f32>>
  return
}

// -----

// A start that is 64 bits wide may wrap: the comparison stays.
// CHECK-LABEL: func.func @wide
func.func @wide(%x: !tile.ptr<f32>, %start: i64, %size: i32) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %w = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
  %n = arith.extsi %size : i32 to i64
  %ss = tile.splat %start : i64 -> tensor<64xi64>
  %ns = tile.splat %n : i64 -> tensor<64xi64>
  %at = arith.addi %ss, %w : tensor<64xi64>
  // CHECK: arith.cmpi slt, %{{.*}} : tensor<64xi64,
  %inside = arith.cmpi slt, %at, %ns : tensor<64xi64>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %p, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
  %v = arith.constant dense<1.0> : tensor<64xf32>
  tile.store %q, %v, %inside : tensor<64x!tile.ptr<f32>>
  return
}
