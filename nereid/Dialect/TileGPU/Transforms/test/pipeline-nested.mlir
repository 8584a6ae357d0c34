// A product in a loop around another: its operands are copied one iteration
// ahead, whatever num_stages is, beside the inner loop's, two ahead. The outer
// copies start after the outer wait, and in front of the inner loop.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s
// RUN: nereid-opt %s --tilegpu-pipeline="target=sm_90a warps=4" -o /dev/null
// The inner loop has the room: 3 slots of 16 KiB, and none is left for 2 more.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops{shared-limit=65536},tilegpu-expand-loops))' | FileCheck %s --check-prefix=INNER

// CHECK: tilegpu.alloc : <2 x[64, 64] x f16
// CHECK: tilegpu.alloc : <2 x[64, 64] x f16
// CHECK: tilegpu.commit_copies
// CHECK: scf.for
// CHECK-NEXT: tilegpu.wait_copies 0
// CHECK: tile.dot {{.*}} {tilegpu.in_flight, tilegpu.warpgroup_mma}
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.copy_async
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NEXT: tilegpu.wait_products
// CHECK: tilegpu.alloc : <3 x[64, 64] x f16
// CHECK: tilegpu.alloc : <3 x[64, 64] x f16
// CHECK: scf.for
// CHECK-NEXT: tilegpu.wait_copies 1
// CHECK: tilegpu.wait_older_products 1
// CHECK: scf.yield
// CHECK: tilegpu.wait_products
// CHECK: tilegpu.free
// CHECK-NEXT: tilegpu.free
// CHECK: scf.yield
// CHECK: tilegpu.free
// CHECK-NEXT: tilegpu.free
// CHECK-NOT: tilegpu.schedule

// INNER-NOT: tilegpu.alloc
// INNER: scf.for
// INNER: tilegpu.alloc : <3 x
// INNER: scf.for
func.func @nested(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                  %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
  %all = scf.for %j = %c0 to %n step %c64 iter_args(%outer = %zero) -> (tensor<64x64xf32>) : i32 {
    %jx = tile.addptr %x, %j : !tile.ptr<f16>, i32
    %jy = tile.addptr %y, %j : !tile.ptr<f16>, i32
    %jxs = tile.splat %jx : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %jys = tile.splat %jy : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %jxp = tile.addptr %jxs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %jyp = tile.addptr %jys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %q = tile.load %jxp : tensor<64x64x!tile.ptr<f16>>
    %p = tile.load %jyp : tensor<64x64x!tile.ptr<f16>>
    %first = tile.dot %q, %p, %outer : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %first) -> (tensor<64x64xf32>) : i32 {
      %kx = tile.addptr %x, %k : !tile.ptr<f16>, i32
      %ky = tile.addptr %y, %k : !tile.ptr<f16>, i32
      %xs = tile.splat %kx : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
      %ys = tile.splat %ky : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
      %xp = tile.addptr %xs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %yp = tile.addptr %ys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %a = tile.load %xp : tensor<64x64x!tile.ptr<f16>>
      %b = tile.load %yp : tensor<64x64x!tile.ptr<f16>>
      %d = tile.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    scf.yield %sum : tensor<64x64xf32>
  }
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zp, %all : tensor<64x64x!tile.ptr<f32>>
  return
}
