// Registers, then five shuffles, then one trip through shared memory with one
// barrier; a second reduction takes another region and one more barrier.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @sums
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: shfl
// CHECK: nv.store shared
// CHECK-NEXT: nvvm.barrier
// CHECK: nv.load shared {{.*}} -> i32, i32, i32, i32
// CHECK-NOT: nvvm.barrier
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier
// CHECK-NOT: nvvm.barrier
func.func @sums(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
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
  %s = "tile.reduce"(%d) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<1024xf32>) -> f32
  tile.store %y, %s : !tile.ptr<f32>
  return
}
