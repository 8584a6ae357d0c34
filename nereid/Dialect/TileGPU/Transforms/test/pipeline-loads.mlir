// What a product reads is copied two iterations ahead, addresses and masks with
// it; the transpose is an order of reading. A product by four warps together
// runs while the copies are started.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s --check-prefixes=CHECK,MMA
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops{carry-products=false},tilegpu-expand-loops))' | FileCheck %s --check-prefixes=CHECK,GROUP
// Two slots of both fit into 40 KiB, three do not; none fits into 16.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops{shared-limit=40960},tilegpu-expand-loops))' | FileCheck %s --check-prefix=FEW
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops{shared-limit=16384},tilegpu-expand-loops))' | FileCheck %s --check-prefix=NONE
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops{stages=1},tilegpu-expand-loops))' | FileCheck %s --check-prefix=NONE
// Nor is anything copied ahead where there are no such copies.
// RUN: nereid-opt %s --tilegpu-pipeline="target=toy64 warps=4 stages=3" | FileCheck %s --check-prefix=NONE

// FEW: tilegpu.alloc : <2 x[64, 64] x f16
// FEW: tilegpu.wait_copies 0
// NONE-NOT: copy_async
// NONE: tile.load

// CHECK-LABEL: func.func @product
// CHECK: %[[A:.*]] = tilegpu.alloc : <3 x[64, 64] x f16
// CHECK: %[[B:.*]] = tilegpu.alloc : <3 x[64, 64] x f16
// CHECK: %[[FIRST:.*]] = arith.cmpi slt
// CHECK: tilegpu.copy_async %{{.*}}, %[[A]][%{{.*}}] mask %{{.*}} if %[[FIRST]]
// CHECK: tilegpu.copy_async %{{.*}}, %[[B]][%{{.*}}] mask %{{.*}} if %[[FIRST]]
// CHECK: tilegpu.commit_copies
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.commit_copies
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %
// CHECK-NEXT: tilegpu.wait_copies 1
// MMA: tilegpu.copy_async
// MMA: tilegpu.copy_async
// MMA: tilegpu.commit_copies
// GROUP-NOT: tilegpu.copy_async
// CHECK-NOT: tile.load
// CHECK: %[[LEFT:.*]] = tilegpu.local_load %[[A]][%[[SLOT]]] :
// CHECK: %[[RIGHT:.*]] = tilegpu.local_load %[[B]][%[[SLOT]]] order [1, 0] :
// MMA: tile.dot %[[LEFT]], %[[RIGHT]], %{{.*}} {tilegpu.mma}
// GROUP: %[[STARTED:.*]] = tile.dot %[[LEFT]], %[[RIGHT]], %{{.*}} {tilegpu.in_flight, tilegpu.warpgroup_mma}
// GROUP: tilegpu.copy_async
// GROUP: tilegpu.copy_async
// GROUP: tilegpu.commit_copies
// GROUP-NEXT: %[[SUM:.*]] = tilegpu.wait_products %[[STARTED]]
// GROUP: scf.yield %[[SUM]],
// MMA: scf.yield
// CHECK: tilegpu.free %[[B]]
// CHECK-NEXT: tilegpu.free %[[A]]
func.func @product(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %i = tile.range 0, 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %rows = arith.muli %i, %ns : tensor<64xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %left = arith.subi %n, %k : i32
    %ls = tile.splat %left : i32 -> tensor<64xi32>
    %in = arith.cmpi slt, %i, %ls : tensor<64xi32>
    %m = tile.expand_dims %in {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
    %mb = tile.broadcast %m : tensor<1x64xi1> -> tensor<64x64xi1>
    %xk = tile.addptr %x, %k : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xq, %mb, %none : tensor<64x64x!tile.ptr<f16>>
    %yk = tile.addptr %y, %k : !tile.ptr<f16>, i32
    %yp = tile.splat %yk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %yq = tile.addptr %yp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %b = tile.load %yq, %mb, %none : tensor<64x64x!tile.ptr<f16>>
    %t = tile.transpose %b {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %a, %t, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zq, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
