// A GPU with warps of 64 threads and no matrix instructions.
// RUN: nereid-opt %s --tile-to-tilegpu="target=toy64 warps=4" | FileCheck %s

// CHECK-LABEL: func.func @row
// CHECK-SAME: tilegpu.target = "toy64", tilegpu.warps = 4
// CHECK: tile.load {{.*}}registers = [1, 2, 1024], lanes = [4, 8, 16, 32, 64, 128], warps = [256, 512]
// CHECK: "tile.scan"
// CHECK: (tensor<2048xf32, #tilegpu.layout<registers = [1, 2, 4, 8], lanes = [16, 32, 64, 128, 256, 512], warps = [1024, 0]
// CHECK: tile.store {{.*}}registers = [1, 2, 1024], lanes = [4, 8, 16, 32, 64, 128], warps = [256, 512]
func.func @row(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %i = tile.range 0, 2048 : tensor<2048xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<2048x!tile.ptr<f32>>, tensor<2048xi32>
  %v = tile.load %q : tensor<2048x!tile.ptr<f32>>
  %w = "tile.scan"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<2048xf32>) -> tensor<2048xf32>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>>
  %s = tile.addptr %r, %i : tensor<2048x!tile.ptr<f32>>, tensor<2048xi32>
  %z = arith.addf %v, %w : tensor<2048xf32>
  tile.store %s, %z : tensor<2048x!tile.ptr<f32>>
  return
}
