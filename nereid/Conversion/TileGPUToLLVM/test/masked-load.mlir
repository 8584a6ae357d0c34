// A masked load is one predicated instruction.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK: nv.load global %{{.*}} if %{{.*}} else %{{.*}} : i32, i32, i32, i32 : i64 -> i32, i32, i32, i32
func.func @masked(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                  %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                  %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %other = arith.constant dense<-1.0> : tensor<128xf32>
  %i = tile.range 0, 128 : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<128xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %v = tile.load %q, %m, %other : tensor<128x!tile.ptr<f32>>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %s = tile.addptr %r, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %s, %v, %m : tensor<128x!tile.ptr<f32>>
  return
}
