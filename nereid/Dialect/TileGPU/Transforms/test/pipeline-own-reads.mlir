// A product reads what is copied ahead where it lies, also where something else
// computes with it. One read for both would come into registers, and the
// product would write it to shared memory again: under the product of the
// iteration before, which still reads that.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops,tilegpu-allocate-shared))' | FileCheck %s

// CHECK: %[[OTHER:.*]] = tilegpu.local_load
// CHECK: %[[A:.*]] = tilegpu.local_load
// CHECK: %[[B:.*]] = tilegpu.local_load
// CHECK: tile.dot %[[A]], %[[B]], %{{.*}} {tilegpu.in_flight, tilegpu.warpgroup_mma}
// CHECK: tile.store %{{.*}}, %[[OTHER]] :
func.func @also_stored(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                       %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                       %w: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                       %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                       %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %i = tile.range 0, 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %rows = arith.muli %i, %ns : tensor<64xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%one = %zero) -> (tensor<64x64xf32>) : i32 {
    %kx = tile.addptr %x, %k : !tile.ptr<f16>, i32
    %ky = tile.addptr %y, %k : !tile.ptr<f16>, i32
    %kw = tile.addptr %w, %k : !tile.ptr<f16>, i32
    %xs = tile.splat %kx : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %ys = tile.splat %ky : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %ws = tile.splat %kw : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xp = tile.addptr %xs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %yp = tile.addptr %ys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %wp = tile.addptr %ws, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xp : tensor<64x64x!tile.ptr<f16>>
    %b = tile.load %yp : tensor<64x64x!tile.ptr<f16>>
    %s = tile.dot %a, %b, %one : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.store %wp, %a : tensor<64x64x!tile.ptr<f16>>
    scf.yield %s : tensor<64x64xf32>
  }
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zp, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
