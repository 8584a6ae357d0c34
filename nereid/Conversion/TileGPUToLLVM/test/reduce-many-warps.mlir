// Of 16 partial results every lane reads one, and four shuffles combine them:
// but only where all lanes want the same.
// RUN: nereid-opt %s --split-input-file --tile-to-tilegpu="target=sm_90 warps=16" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @one_row
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: nv.store shared
// CHECK: nvvm.barrier
// CHECK-NOT: nv.load shared {{.*}} -> i32, i32
// CHECK: nv.load shared
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: shfl
// CHECK: llvm.return
func.func @one_row(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 8192 : tensor<8192xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  %v = tile.load %q : tensor<8192x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<8192xf32>) -> f32
  tile.store %y, %s : !tile.ptr<f32>
  return
}

// -----

// Columns of a row-major tile: neighbouring lanes hold other columns.
// CHECK-LABEL: llvm.func @columns
// CHECK: nvvm.barrier
// CHECK: nv.load shared {{.*}} -> i32, i32, i32, i32
// CHECK-NOT: shfl
// CHECK: llvm.return
func.func @columns(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 32 : tensor<32xi32>
  %i1 = tile.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %i2 = tile.broadcast %i1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %j = tile.range 0, 64 : tensor<64xi32>
  %n = arith.constant dense<32> : tensor<64xi32>
  %jn = arith.muli %j, %n : tensor<64xi32>
  %j1 = tile.expand_dims %jn {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j2 = tile.broadcast %j1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %o = arith.addi %j2, %i2 : tensor<64x32xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %q = tile.addptr %p, %o : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  %v = tile.load %q : tensor<64x32x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<64x32xf32>) -> tensor<32xf32>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %t = tile.addptr %r, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %t, %s : tensor<32x!tile.ptr<f32>>
  return
}
