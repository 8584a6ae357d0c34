// The 32 registers of a thread are combined to 8 running results, element by
// element in the order of their loads, and those by a tree.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s

// CHECK-LABEL: llvm.func @sum
// CHECK: %[[S0:[0-9]+]] = arith.addf
// CHECK-NEXT: %[[S1:[0-9]+]] = arith.addf
// CHECK-COUNT-6: arith.addf
// CHECK-NEXT: %[[T0:[0-9]+]] = arith.addf %[[S0]],
// CHECK-NEXT: %[[T1:[0-9]+]] = arith.addf %[[S1]],
// CHECK-COUNT-6: arith.addf
// CHECK-NEXT: %[[U0:[0-9]+]] = arith.addf %[[T0]],
// CHECK-NEXT: %[[U1:[0-9]+]] = arith.addf %[[T1]],
// CHECK-COUNT-6: arith.addf
// CHECK-NEXT: arith.addf %[[U0]], %[[U1]]
// CHECK: shfl
func.func @sum(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
               %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %q : tensor<1024x!tile.ptr<f32>>
  %sum = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<1024xf32>) -> f32
  tile.store %y, %sum : !tile.ptr<f32>
  return
}
