// A masked load is one predicated instruction; its results may share no register
// with what it reads after they are set.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-to-llvm | FileCheck %s

// CHECK: "mov.b32 $0, $6;\0A\09mov.b32 $1, $7;\0A\09mov.b32 $2, $8;\0A\09mov.b32 $3, $9;\0A\09@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4+0];", "=&r,=&r,=&r,=&r,l,b,r,r,r,r"
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
