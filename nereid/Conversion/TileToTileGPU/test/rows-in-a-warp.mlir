// A layer norm of 8 rows of 256: a row stays in a warp, every warp loads the
// weights that it needs, and the means are stored from where they are.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" | FileCheck %s
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4 small-tiles=false" | FileCheck %s --check-prefix=COALESCED

// COALESCED-LABEL: func.func @rows
// COALESCED: tilegpu.convert_layout {{.*}}tensor<8xf32
// COALESCED: tilegpu.convert_layout {{.*}}tensor<1x256xf32
// CHECK-LABEL: func.func @rows
// CHECK-NOT: convert_layout
// CHECK: tile.load {{.*}}tensor<8x256x!tile.ptr<f32>, #tilegpu.layout<registers = [1, 2, 1024, 128], lanes = [4, 8, 16, 32, 64], warps = [256, 512]>>
// CHECK: tile.load {{.*}}tensor<256x!tile.ptr<f32>, #tilegpu.layout<registers = [1, 2, 128], lanes = [4, 8, 16, 32, 64], warps = [0, 0]>>
// CHECK: tile.store {{.*}}tensor<8x!tile.ptr<f32>, #tilegpu.layout<registers = [4], lanes = [0, 0, 0, 0, 0], warps = [1, 2]>>
// CHECK-NOT: convert_layout
// CHECK: return
func.func @rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %w: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %mean: !tile.ptr<f32>,
                %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %rows = tile.range 0, 8 : tensor<8xi32>
  %cols = tile.range 0, 256 : tensor<256xi32>
  %n = arith.constant dense<256> : tensor<8xi32>
  %begin = arith.muli %rows, %n : tensor<8xi32>
  %b1 = tile.expand_dims %begin {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %b2 = tile.broadcast %b1 : tensor<8x1xi32> -> tensor<8x256xi32>
  %c1 = tile.expand_dims %cols {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %c2 = tile.broadcast %c1 : tensor<1x256xi32> -> tensor<8x256xi32>
  %offsets = arith.addi %b2, %c2 : tensor<8x256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x256x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<8x256x!tile.ptr<f32>>, tensor<8x256xi32>
  %v = tile.load %xp : tensor<8x256x!tile.ptr<f32>>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %wp = tile.addptr %ws, %cols : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %weights = tile.load %wp : tensor<256x!tile.ptr<f32>>
  %sum = "tile.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<8x256xf32>) -> tensor<8xf32>
  %ms = tile.splat %mean : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %mp = tile.addptr %ms, %rows : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  tile.store %mp, %sum : tensor<8x!tile.ptr<f32>>
  %w1 = tile.expand_dims %weights {axis = 0 : i32} : tensor<256xf32> -> tensor<1x256xf32>
  %w2 = tile.broadcast %w1 : tensor<1x256xf32> -> tensor<8x256xf32>
  %r = arith.mulf %v, %w2 : tensor<8x256xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<8x256x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<8x256x!tile.ptr<f32>>, tensor<8x256xi32>
  tile.store %yp, %r : tensor<8x256x!tile.ptr<f32>>
  return
}
