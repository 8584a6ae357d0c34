// ptxas must not know a word of 8-bit floats to be zero: of such a word it may
// take another number for the upper half.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s

// CHECK-LABEL: llvm.func @fp8
// CHECK-COUNT-6: nv.hide_from_assembler %{{.*}} because half_of_known_zero
// CHECK: nv.mma f8E5M2 {{.*}} times f8E5M2
func.func @fp8(%x: !tile.ptr<f8E5M2> {tile.divisibility = 16 : i32},
               %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %none = arith.constant dense<0.0> : tensor<16x32xf8E5M2>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %i = tile.range 0, 256 : tensor<256xi32>
  %o = tile.reshape %i : tensor<256xi32> -> tensor<32x8xi32>
  %p = tile.splat %x : !tile.ptr<f8E5M2> -> tensor<32x8x!tile.ptr<f8E5M2>>
  %q = tile.addptr %p, %o : tensor<32x8x!tile.ptr<f8E5M2>>, tensor<32x8xi32>
  %b = tile.load %q : tensor<32x8x!tile.ptr<f8E5M2>>
  %d = tile.dot %none, %b, %zero : tensor<16x32xf8E5M2>, tensor<32x8xf8E5M2>, tensor<16x8xf32>
  %j = tile.range 0, 128 : tensor<128xi32>
  %k = tile.reshape %j : tensor<128xi32> -> tensor<16x8xi32>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<16x8x!tile.ptr<f32>>
  %s = tile.addptr %r, %k : tensor<16x8x!tile.ptr<f32>>, tensor<16x8xi32>
  tile.store %s, %d : tensor<16x8x!tile.ptr<f32>>
  return
}
