// A product that reads a copied tile through one and through two transposes reads
// it in place both times: from registers it would go through scratch, which the
// next iteration overwrites under the product in flight.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s

// CHECK: scf.for
// CHECK: %[[A:.*]] = tilegpu.local_load {{.*}} order [1, 0]
// CHECK-NEXT: %[[B:.*]] = tilegpu.local_load
// CHECK-NOT: order
// CHECK-NEXT: tile.dot %[[A]], %[[B]], {{.*}}tilegpu.in_flight
// CHECK-NOT: tile.transpose
// CHECK: scf.yield
func.func @product(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %i = tile.range 0, 64 : tensor<64xi32>
  %by64 = arith.constant dense<64> : tensor<64xi32>
  %is = arith.muli %i, %by64 : tensor<64xi32>
  %ie = tile.expand_dims %is {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ib = tile.broadcast %ie : tensor<64x1xi32> -> tensor<64x64xi32>
  %je = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %jb = tile.broadcast %je : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %ib, %jb : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %xo = arith.muli %k, %c4096 : i32
    %xk = tile.addptr %x, %xo : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xq : tensor<64x64x!tile.ptr<f16>>
    %t = tile.transpose %a {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %tt = tile.transpose %t {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %t, %tt, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zq, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
