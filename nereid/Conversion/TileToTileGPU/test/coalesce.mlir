// Loads and stores are coalesced, index arithmetic follows them, and a row
// reduction moves nothing between threads by a conversion.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" | FileCheck %s

// CHECK-LABEL: func.func @softmax_row
// CHECK-NOT: convert_layout
// CHECK: tile.range 0, 1024 : tensor<1024xi32, #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>>
// CHECK: tile.load {{.*}}registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]
// CHECK: tile.store {{.*}}registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]
func.func @softmax_row(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                       %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %q : tensor<1024x!tile.ptr<f32>>
  %m = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<1024xf32>) -> f32
  %ms = tile.splat %m : f32 -> tensor<1024xf32>
  %d = arith.subf %v, %ms : tensor<1024xf32>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %s = tile.addptr %r, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %s, %d : tensor<1024x!tile.ptr<f32>>
  return
}
