// A GPU with warps of 64 threads: its lanes, its shuffles, its banks, and the
// scratch that they need.
// RUN: nereid-opt %s --split-input-file --gpu-pipeline="target=toy64 warps=4" | FileCheck %s

// Six steps inside a warp, then one trip through shared memory for four warps.
// CHECK-LABEL: llvm.func @sum
// CHECK-SAME: nvvm.reqntid = array<i32: 256>
// CHECK-SAME: tilegpu.shared_bytes = 16 : i32, tilegpu.threads = 256 : i32
// CHECK: arith.andi %{{.*}}, %c255_i32
// CHECK-COUNT-6: shfl{{.*}}bfly
// CHECK-NOT: shfl
// CHECK: arith.andi %{{.*}}, %c63_i32
// CHECK: arith.andi %{{.*}}, %c192_i32
// CHECK: barrier
func.func @sum(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 256 : tensor<256xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %q : tensor<256x!tile.ptr<f32>>
  %m = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<256xf32>) -> f32
  tile.store %y, %m : !tile.ptr<f32>
  return
}

// -----

// A transpose on its way to memory: the whole tile, once.
// CHECK-LABEL: llvm.func @transpose
// CHECK-SAME: tilegpu.shared_bytes = 16384 : i32
func.func @transpose(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %start = arith.muli %row, %c64 : tensor<64x1xi32>
  %starts = tile.broadcast %start : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %starts, %columns : tensor<64x64xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %q = tile.addptr %p, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %v = tile.load %q : tensor<64x64x!tile.ptr<f32>>
  %t = tile.transpose %v {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %s = tile.addptr %r, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %s, %t : tensor<64x64x!tile.ptr<f32>>
  return
}
