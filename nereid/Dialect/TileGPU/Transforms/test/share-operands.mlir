// What the loop does not change is written to shared memory once, in front of
// it, for both loops of a block; a transpose is an order of reading. What the
// iteration computes stays in registers.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-share-operands))' | FileCheck %s
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-share-operands,tilegpu-schedule-loops{shared-limit=66560},tilegpu-expand-loops))' | FileCheck %s --check-prefix=STAGES
// With the operand's 8 KiB there is room for two slots instead of three.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-share-operands,tilegpu-schedule-loops{shared-limit=32767},tilegpu-expand-loops))' | FileCheck %s --check-prefix=FEWER
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-share-operands,tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefix=CODE

// CHECK-LABEL: func.func @loops
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[BUFFER:.*]] = tilegpu.alloc : <1 x[64, 64] x f16
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: tilegpu.local_store %[[X]], %[[BUFFER]][%[[ZERO]]]
// CHECK-NEXT: scf.for
// CHECK: %[[LEFT:.*]] = tilegpu.local_load %[[BUFFER]][%{{.*}}] : <1 x
// CHECK-NEXT: %[[S:.*]] = tile.dot %[[LEFT]], %{{.*}}, %{{.*}} {tilegpu.warpgroup_mma}
// CHECK: %[[P:.*]] = arith.truncf %[[S]]
// CHECK: tile.dot %[[P]],
// CHECK: scf.yield
// CHECK-NOT: tilegpu.free
// CHECK: scf.for
// CHECK: %[[RIGHT:.*]] = tilegpu.local_load %[[BUFFER]][%{{.*}}] order [1, 0]
// CHECK-NEXT: tile.dot %{{.*}}, %[[RIGHT]],
// CHECK: scf.yield
// CHECK: tilegpu.free %[[BUFFER]]

// STAGES: tilegpu.alloc : <1 x
// STAGES: tilegpu.alloc : <3 x
// FEWER: tilegpu.alloc : <1 x
// FEWER: tilegpu.alloc : <2 x

// CODE-LABEL: llvm.func @loops
// CODE: nv.store shared
// CODE: nvvm.fence.proxy
// CODE: nvvm.barrier
// CODE: scf.for
// CODE: nv.wgmma f16 {{.*}} : i64 times
// CODE: nv.wgmma f16 {{.*}} : i32, {{.*}} times
func.func @loops(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                 %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                 %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                 %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %i = tile.range 0, 64 : tensor<64xi32>
  %by64 = arith.constant dense<64> : tensor<64xi32>
  %rows = arith.muli %i, %by64 : tensor<64xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %xp = tile.addptr %xs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %q = tile.load %xp : tensor<64x64x!tile.ptr<f16>>
  %first = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %k, %c4096 : i32
    %yk = tile.addptr %y, %at : !tile.ptr<f16>, i32
    %ys = tile.splat %yk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %yp = tile.addptr %ys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %b = tile.load %yp : tensor<64x64x!tile.ptr<f16>>
    %s = tile.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.dot %p, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %second = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<64x64xf32>) : i32 {
    %t = tile.transpose %q {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %p = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.dot %p, %t, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zp, %second : tensor<64x64x!tile.ptr<f32>>
  return
}
