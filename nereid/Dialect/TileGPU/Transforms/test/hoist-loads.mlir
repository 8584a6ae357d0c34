// Weights are loaded with the row, not after its sum.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{warps=4},func.func(tilegpu-hoist-loads))' | FileCheck %s

// CHECK-LABEL: func.func @weights
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[W:.*]] = tile.load
// CHECK: "tile.reduce"(%[[X]])
// The load of what the store to its own array writes stays behind it.
// CHECK: tile.store
// CHECK: tile.load
// CHECK: tile.store
func.func @weights(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %m: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 256 : tensor<256xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %xq = tile.addptr %xp, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %xq : tensor<256x!tile.ptr<f32>>
  %sum = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }) : (tensor<256xf32>) -> f32
  tile.store %m, %sum : !tile.ptr<f32>
  %mp = tile.splat %m : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %mq = tile.addptr %mp, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %old = tile.load %mq : tensor<256x!tile.ptr<f32>>
  %wp = tile.splat %w : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %wq = tile.addptr %wp, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %u = tile.load %wq : tensor<256x!tile.ptr<f32>>
  %t = tile.splat %sum : f32 -> tensor<256xf32>
  %y = arith.mulf %u, %t : tensor<256xf32>
  %z = arith.addf %y, %old : tensor<256xf32>
  tile.store %xq, %z : tensor<256x!tile.ptr<f32>>
  return
}

// -----

// An address that comes from a sum stays after it.
// CHECK-LABEL: func.func @chosen
// CHECK: "tile.reduce"
// CHECK: tile.load
func.func @chosen(%x: !tile.ptr<i32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 256 : tensor<256xi32>
  %xp = tile.splat %x : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>>
  %xq = tile.addptr %xp, %i : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  %v = tile.load %xq : tensor<256x!tile.ptr<i32>>
  %most = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.maxsi %a, %b : i32
    tile.yield %s : i32
  }) : (tensor<256xi32>) -> i32
  %row = tile.addptr %y, %most : !tile.ptr<f32>, i32
  %yp = tile.splat %row : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %u = tile.load %yq : tensor<256x!tile.ptr<f32>>
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  tile.store %zq, %u : tensor<256x!tile.ptr<f32>>
  return
}
