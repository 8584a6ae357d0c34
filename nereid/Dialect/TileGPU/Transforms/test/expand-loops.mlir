// A schedule with two stages of copies, the one three, the other two iterations
// ahead: the ring has slots for the longer way, and each step forms one group.
// %o is computed for both. An offset in the ring wraps around its end.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-expand-loops))' | FileCheck %s

// CHECK-LABEL: func.func @k
// CHECK: %[[A:.*]] = tilegpu.alloc : <4 x[512] x f32
// CHECK: %[[B:.*]] = tilegpu.alloc : <4 x[512] x f32
// CHECK: tilegpu.copy_async %{{.*}}, %[[A]][%{{.*}}] if
// CHECK-NEXT: tilegpu.commit_copies
// CHECK: tilegpu.copy_async %{{.*}}, %[[A]][
// CHECK: tilegpu.copy_async %{{.*}}, %[[B]][
// CHECK-NEXT: tilegpu.commit_copies
// CHECK: tilegpu.copy_async %{{.*}}, %[[A]][
// CHECK: tilegpu.copy_async %{{.*}}, %[[B]][
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NOT: tilegpu.copy_async
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[SLOT:.*]] = %
// The youngest group alone has nothing for this iteration.
// CHECK-NEXT: tilegpu.wait_copies 1
// CHECK: %[[BEHIND:.*]] = arith.subi %[[SLOT]], %c1
// CHECK: %[[THREE:.*]] = arith.select %{{.*}}, %c3{{.*}}, %[[BEHIND]]
// CHECK: %[[MOVED:.*]] = arith.addi %[[SLOT]], %c2
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[MOVED]], %[[END:.*]] :
// CHECK: %[[ROUND:.*]] = arith.subi %[[MOVED]], %[[END]]
// CHECK: %[[TWO:.*]] = arith.select %[[IN]], %[[MOVED]], %[[ROUND]]
// CHECK: %[[SECOND:.*]] = tilegpu.local_load %[[B]][%[[SLOT]]]
// CHECK: %[[FIRST:.*]] = tilegpu.local_load %[[A]][%[[SLOT]]]
// CHECK: tilegpu.copy_async %{{.*}}, %[[A]][%[[THREE]]] if
// CHECK: tilegpu.copy_async %{{.*}}, %[[B]][%[[TWO]]] if
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NOT: tilegpu.schedule
// CHECK: %[[BOTH:.*]] = arith.addf %[[FIRST]], %[[SECOND]]
// CHECK: arith.addf %[[SUM]], %[[BOTH]]
// CHECK-NOT: tilegpu.slots
// CHECK: tilegpu.free %[[B]]
// CHECK-NEXT: tilegpu.free %[[A]]
func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0, 1], orders = [2, 4]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [0, 1], orders = [2, 4]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [2]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [3], done = [3, 1]>} : tensor<512x!tile.ptr<f32>>
    %yq = tile.addptr %yp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [1], orders = [4]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %b = tile.load %yq {tilegpu.schedule = #tilegpu.schedule<stages = [1], orders = [5], done = [3, 0]>} : tensor<512x!tile.ptr<f32>>
    %c = arith.addf %a, %b {tilegpu.schedule = #tilegpu.schedule<stages = [3], orders = [6]>} : tensor<512xf32>
    %s = arith.addf %sum, %c {tilegpu.schedule = #tilegpu.schedule<stages = [3], orders = [6]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 4 : i32}
  %yq = tile.addptr %yp, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  tile.store %yq, %r : tensor<512x!tile.ptr<f32>>
  return
}
