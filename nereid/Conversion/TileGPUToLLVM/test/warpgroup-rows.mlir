// Two pieces of 64 rows with the left operand in registers: ptxas takes
// instructions of the same operands for one, so the second's are made to look
// different.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s

// CHECK-LABEL: llvm.func @rows
// CHECK-COUNT-2: nv.hide_from_assembler %{{.*}} because equal_left_operands
// CHECK-NOT: nv.hide_from_assembler
// CHECK: nv.wgmma f16 {{.*}} waits}
func.func @rows(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %one = arith.constant dense<1.0> : tensor<128x16xf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %o = tile.reshape %i : tensor<1024xi32> -> tensor<16x64xi32>
  %p = tile.splat %x : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
  %q = tile.addptr %p, %o : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
  %b = tile.load %q : tensor<16x64x!tile.ptr<f16>>
  %d = tile.dot %one, %b, %zero : tensor<128x16xf16>, tensor<16x64xf16>, tensor<128x64xf32>
  %j = tile.range 0, 8192 : tensor<8192xi32>
  %k = tile.reshape %j : tensor<8192xi32> -> tensor<128x64xi32>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<128x64x!tile.ptr<f32>>
  %s = tile.addptr %r, %k : tensor<128x64x!tile.ptr<f32>>, tensor<128x64xi32>
  tile.store %s, %d : tensor<128x64x!tile.ptr<f32>>
  return
}
