// Rows of two matrices, each repeated for those of the other: both repeat in
// registers, where they lie alike in lanes. Nothing moves between threads.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" | FileCheck %s

// CHECK-LABEL: func.func @all_rows_with_all
// CHECK-NOT: convert_layout
// CHECK: arith.mulf {{.*}} : tensor<4x2x256xf32, #tilegpu.layout<registers = [32, 64, 128, 512, 1024, 256], lanes = [1, 2, 4, 8, 16], warps = []>>
// CHECK-NOT: convert_layout
// CHECK: tile.reduce
func.func @all_rows_with_all(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                             %w: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                             %y: !tile.ptr<f32>)
    attributes {tile.kernel} {
  %xi = tile.range 0, 1024 : tensor<1024xi32>
  %xr = tile.reshape %xi : tensor<1024xi32> -> tensor<4x256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x256x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %xr : tensor<4x256x!tile.ptr<f32>>, tensor<4x256xi32>
  %xv = tile.load %xp : tensor<4x256x!tile.ptr<f32>>
  %wi = tile.range 0, 512 : tensor<512xi32>
  %wr = tile.reshape %wi : tensor<512xi32> -> tensor<2x256xi32>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<2x256x!tile.ptr<f32>>
  %wp = tile.addptr %ws, %wr : tensor<2x256x!tile.ptr<f32>>, tensor<2x256xi32>
  %wv = tile.load %wp : tensor<2x256x!tile.ptr<f32>>
  %x1 = tile.expand_dims %xv {axis = 1 : i32} : tensor<4x256xf32> -> tensor<4x1x256xf32>
  %x2 = tile.broadcast %x1 : tensor<4x1x256xf32> -> tensor<4x2x256xf32>
  %w1 = tile.expand_dims %wv {axis = 0 : i32} : tensor<2x256xf32> -> tensor<1x2x256xf32>
  %w2 = tile.broadcast %w1 : tensor<1x2x256xf32> -> tensor<4x2x256xf32>
  %p = arith.mulf %x2, %w2 : tensor<4x2x256xf32>
  %sum = "tile.reduce"(%p) <{axis = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<4x2x256xf32>) -> tensor<4x2xf32>
  %yi = tile.range 0, 8 : tensor<8xi32>
  %yr = tile.reshape %yi : tensor<8xi32> -> tensor<4x2xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4x2x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %yr : tensor<4x2x!tile.ptr<f32>>, tensor<4x2xi32>
  tile.store %yp, %sum : tensor<4x2x!tile.ptr<f32>>
  return
}
