// Two products of one left operand that need nothing of each other: both are
// started, then the next copies, and then both are waited for. A product that
// needs the first's result is not started with it.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops{carry-products=false},tilegpu-expand-loops))' | FileCheck %s

// Two sums of products go on into the next iteration together: there, all but
// the two that were started last are done before the copies overwrite what they
// read. A product that needs another's result ends them.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s --check-prefix=CARRY

// CARRY-LABEL: func.func @gated
// CARRY: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[ONE:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}}, %{{.*}} = %
// CARRY: tilegpu.wait_copies 1
// CARRY: %[[A:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ONE]] {tilegpu.in_flight, tilegpu.warpgroup_mma}
// CARRY: %[[B:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[OTHER]] {tilegpu.in_flight, tilegpu.warpgroup_mma}
// CARRY-NOT: tilegpu.copy_async
// CARRY: tilegpu.wait_older_products 2
// CARRY-NEXT: tilegpu.barrier all
// CARRY: tilegpu.copy_async
// CARRY: tilegpu.commit_copies
// CARRY-NOT: tilegpu.wait_products
// CARRY: scf.yield %[[A]], %[[B]],
// CARRY: tilegpu.wait_products %[[LOOP]]#0
// CARRY-NEXT: tilegpu.wait_products %[[LOOP]]#1
// CARRY-NEXT: tilegpu.free

// CARRY-LABEL: func.func @one_after_the_other
// CARRY-NOT: tilegpu.wait_older_products

// CHECK-LABEL: func.func @gated
// CHECK: scf.for
// CHECK: tilegpu.wait_copies
// CHECK: %[[A:.*]] = tile.dot {{.*}} {tilegpu.in_flight, tilegpu.warpgroup_mma}
// CHECK-NOT: tilegpu.copy_async
// CHECK: %[[B:.*]] = tile.dot {{.*}} {tilegpu.in_flight, tilegpu.warpgroup_mma}
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.commit_copies
// CHECK-NEXT: %[[ONE:.*]] = tilegpu.wait_products %[[A]]
// CHECK-NEXT: %[[OTHER:.*]] = tilegpu.wait_products %[[B]]
// CHECK: scf.yield %[[ONE]], %[[OTHER]]
func.func @gated(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
  %sums:2 = scf.for %k = %c0 to %n step %c64 iter_args(%one = %zero, %other = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %kx = tile.addptr %x, %k : !tile.ptr<f16>, i32
    %ky = tile.addptr %y, %k : !tile.ptr<f16>, i32
    %kw = tile.addptr %ky, %c64 : !tile.ptr<f16>, i32
    %xs = tile.splat %kx : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %ys = tile.splat %ky : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %ws = tile.splat %kw : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xp = tile.addptr %xs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %yp = tile.addptr %ys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %wp = tile.addptr %ws, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xp : tensor<64x64x!tile.ptr<f16>>
    %b = tile.load %yp : tensor<64x64x!tile.ptr<f16>>
    %w = tile.load %wp : tensor<64x64x!tile.ptr<f16>>
    %s = tile.dot %a, %b, %one : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %t = tile.dot %a, %w, %other : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %s, %t : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %both = arith.mulf %sums#0, %sums#1 : tensor<64x64xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zp, %both : tensor<64x64x!tile.ptr<f32>>
  return
}

// -----

// CHECK-LABEL: func.func @one_after_the_other
// CHECK: scf.for
// CHECK: tile.dot {{.*}} {tilegpu.in_flight, tilegpu.warpgroup_mma}
// CHECK: tilegpu.wait_products
// CHECK: tile.dot {{.*}} {tilegpu.warpgroup_mma}
// CHECK: scf.yield
func.func @one_after_the_other(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%one = %zero) -> (tensor<64x64xf32>) : i32 {
    %kx = tile.addptr %x, %k : !tile.ptr<f16>, i32
    %ky = tile.addptr %y, %k : !tile.ptr<f16>, i32
    %xs = tile.splat %kx : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %ys = tile.splat %ky : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xp = tile.addptr %xs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %yp = tile.addptr %ys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xp : tensor<64x64x!tile.ptr<f16>>
    %b = tile.load %yp : tensor<64x64x!tile.ptr<f16>>
    %s = tile.dot %a, %b, %one : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %t = tile.dot %a, %b, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zp, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
