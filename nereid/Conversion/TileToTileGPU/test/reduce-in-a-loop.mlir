// A loop takes the largest element of each row away: what the block becomes
// depends on a reduction of the block, so that the loop is looked at before it
// is known where the block lies. The reduction's results lie where its source
// does: registers of a thread along rows 4, 8 and 16, warps along 1 and 2.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" | FileCheck %s

// CHECK-LABEL: func.func @largest_away
// CHECK: scf.for
// CHECK: "tile.reduce"
// CHECK: tensor<32x32xf32, #tilegpu.layout<registers = [128, 256, 512], lanes = [1, 2, 4, 8, 16], warps = [32, 64]>>,
// CHECK-SAME: tensor<32x32xi32, #tilegpu.layout<registers = [128, 256, 512], lanes = [1, 2, 4, 8, 16], warps = [32, 64]>>)
// CHECK-SAME: -> (tensor<32xf32, #tilegpu.layout<registers = [4, 8, 16], lanes = [0, 0, 0, 0, 0], warps = [1, 2]>>,
// CHECK-SAME: tensor<32xi32, #tilegpu.layout<registers = [4, 8, 16], lanes = [0, 0, 0, 0, 0], warps = [1, 2]>>)
// CHECK: tile.store
func.func @largest_away(%x: !tile.ptr<f32>, %y: !tile.ptr<i32>, %k: i32)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.constant dense<0xFF800000> : tensor<32x32xf32>
  %rows = tile.range 0, 32 : tensor<32xi32>
  %n = arith.constant dense<33> : tensor<32xi32>
  %begin = arith.muli %rows, %n : tensor<32xi32>
  %b1 = tile.expand_dims %begin {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %b2 = tile.broadcast %b1 : tensor<32x1xi32> -> tensor<32x32xi32>
  %c = tile.expand_dims %rows {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tile.broadcast %c : tensor<1x32xi32> -> tensor<32x32xi32>
  %offsets = arith.addi %b2, %cols : tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %v = tile.load %xp : tensor<32x32x!tile.ptr<f32>>
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%block = %v) -> (tensor<32x32xf32>) : i32 {
    %m:2 = "tile.reduce"(%block, %cols) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
      %more = arith.cmpf ogt, %a, %b : f32
      %best = arith.select %more, %a, %b : f32
      %at = arith.select %more, %ai, %bi : i32
      tile.yield %best, %at : f32, i32
    }) : (tensor<32x32xf32>, tensor<32x32xi32>) -> (tensor<32xf32>, tensor<32xi32>)
    %p = tile.addptr %y, %i : !tile.ptr<i32>, i32
    %ys = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
    %yp = tile.addptr %ys, %rows : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
    tile.store %yp, %m#1 : tensor<32x!tile.ptr<i32>>
    %e = tile.expand_dims %m#1 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %at = tile.broadcast %e : tensor<32x1xi32> -> tensor<32x32xi32>
    %same = arith.cmpi eq, %cols, %at : tensor<32x32xi32>
    %next = arith.select %same, %low, %block : tensor<32x32xi1>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  return
}
