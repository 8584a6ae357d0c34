// Four rows, each of four warps: a lane reads one of the 16 partial results, two
// shuffles combine them, and one a row hands out the sum. A thread's 16 elements
// have 8 running results, two a row.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s

// CHECK-LABEL: llvm.func @four_rows
// CHECK-COUNT-12: arith.addf
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-4: nv.store shared
// CHECK: nvvm.barrier
// CHECK-NOT: nv.load shared
// CHECK: nv.load shared
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK-NOT: nv.load shared
// CHECK-COUNT-4: nvvm.shfl.sync idx
// CHECK-NOT: shfl
// CHECK: llvm.return
func.func @four_rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                     %w: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                     %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %i = tile.range 0, 2048 : tensor<2048xi32>
  %o = tile.reshape %i : tensor<2048xi32> -> tensor<4x512xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<4x512x!tile.ptr<f32>>
  %q = tile.addptr %p, %o : tensor<4x512x!tile.ptr<f32>>, tensor<4x512xi32>
  %v = tile.load %q : tensor<4x512x!tile.ptr<f32>>
  %sum = "tile.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<4x512xf32>) -> tensor<4xf32>
  %s1 = tile.expand_dims %sum {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  %s2 = tile.broadcast %s1 : tensor<4x1xf32> -> tensor<4x512xf32>
  %cols = tile.range 0, 512 : tensor<512xi32>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %wp = tile.addptr %ws, %cols : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %weights = tile.load %wp : tensor<512x!tile.ptr<f32>>
  %w1 = tile.expand_dims %weights {axis = 0 : i32} : tensor<512xf32> -> tensor<1x512xf32>
  %w2 = tile.broadcast %w1 : tensor<1x512xf32> -> tensor<4x512xf32>
  %d = arith.subf %v, %s2 : tensor<4x512xf32>
  %r = arith.mulf %d, %w2 : tensor<4x512xf32>
  %t = tile.splat %y : !tile.ptr<f32> -> tensor<4x512x!tile.ptr<f32>>
  %u = tile.addptr %t, %o : tensor<4x512x!tile.ptr<f32>>, tensor<4x512xi32>
  tile.store %u, %r : tensor<4x512x!tile.ptr<f32>>
  return
}
