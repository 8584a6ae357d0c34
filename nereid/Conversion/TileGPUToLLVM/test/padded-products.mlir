// Products that whole instructions do not divide: along K both operands are zero
// where a lane's elements lie outside, what lies outside the result is not stored.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_80 warps=1},tilegpu-to-llvm)' | FileCheck %s

// Five rows are padded to 16, 12 columns of K to 16: the second half of a row of
// A, and of a column of B, ends inside of lane 2's words.
// CHECK-LABEL: @few_rows
// CHECK: %[[IN:[0-9]+]] = arith.cmpi ult, %{{[0-9]+}}, %c4_i32
// CHECK: %[[A:[0-9]+]] = arith.select %[[IN]], %{{[0-9]+}}, %c0_i32
// CHECK: %[[IN:[0-9]+]] = arith.cmpi ult, %{{[0-9]+}}, %c4_i32
// CHECK: %[[B:[0-9]+]] = arith.select %[[IN]], %{{[0-9]+}}, %c0_i32
// CHECK: nv.mma f16 %{{[0-9]+}}, %c0_i32{{[_0-9]*}}, %[[A]], %c0_i32{{[_0-9]*}} : {{.*}} times f16 %{{[0-9]+}}, %[[B]] :
// CHECK-NOT: nv.mma
func.func @few_rows(%p: !tile.ptr<f32>, %x: f16, %y: f16) attributes {tile.kernel} {
  %a = tile.splat %x : f16 -> tensor<5x12xf16>
  %b = tile.splat %y : f16 -> tensor<12x8xf16>
  %c = arith.constant dense<0.0> : tensor<5x8xf32>
  %d = tile.dot %a, %b, %c : tensor<5x12xf16>, tensor<12x8xf16>, tensor<5x8xf32>
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<5x8x!tile.ptr<f32>>
  tile.store %q, %d : tensor<5x8x!tile.ptr<f32>>
  return
}

// -----

// A batch is a product of its own; with more than one warp they share batches.
// CHECK-LABEL: @batches
// CHECK-COUNT-3: nv.mma bf16
// CHECK-NOT: nv.mma
func.func @batches(%p: !tile.ptr<f32>, %x: bf16, %y: bf16) attributes {tile.kernel} {
  %a = tile.splat %x : bf16 -> tensor<3x16x16xbf16>
  %b = tile.splat %y : bf16 -> tensor<3x16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<3x16x8xf32>
  %d = tile.dot %a, %b, %c : tensor<3x16x16xbf16>, tensor<3x16x8xbf16>, tensor<3x16x8xf32>
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<3x16x8x!tile.ptr<f32>>
  tile.store %q, %d : tensor<3x16x8x!tile.ptr<f32>>
  return
}
