// The lanes of a warp leave a loop of compare and swap together: a vote decides,
// and what a lane does in the loop is one instruction under a predicate.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s

// CHECK-LABEL: llvm.func @least
// CHECK: nv.load global %{{.*}} if %{{.*}} {order = #nv<order relaxed>, scope = #nv<scope gpu>} : i64 -> i32
// CHECK: scf.while (%[[OLD:.*]] = %{{.*}}, %[[PENDING:.*]] = %{{.*}})
// CHECK: arith.minnumf
// CHECK: %[[SEEN:.*]] = nv.compare_and_swap %{{.*}}, %[[OLD]], %{{.*}} if %[[PENDING]] acq_rel gpu : i32
// CHECK: %[[RACED:.*]] = arith.cmpi ne, %[[SEEN]], %[[OLD]]
// CHECK: %[[AGAIN:.*]] = arith.andi %[[PENDING]], %[[RACED]]
// CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[AGAIN]]
// CHECK: scf.condition(%[[ANY]]) %[[SEEN]], %[[AGAIN]]
func.func @least(%x: !tile.ptr<f32>, %m: i1) attributes {tile.kernel} {
  %v = arith.constant dense<-3.0> : tensor<32xf32>
  %i = tile.range 0, 32 : tensor<32xi32>
  %ms = tile.splat %m : i1 -> tensor<32xi1>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %old = tile.atomic_rmw fmin, acq_rel, gpu, %q, %v, %ms : tensor<32x!tile.ptr<f32>>
  return
}

// -----

// Integers of 16 bits have no instruction but the swap.
// CHECK-LABEL: llvm.func @sum_of_halves
// CHECK: scf.while
// CHECK: arith.addi {{.*}} : i16
// CHECK: nv.compare_and_swap {{.*}} relaxed sys : i16
func.func @sum_of_halves(%x: !tile.ptr<i16>) attributes {tile.kernel} {
  %v = arith.constant dense<3> : tensor<32xi16>
  %i = tile.range 0, 32 : tensor<32xi32>
  %p = tile.splat %x : !tile.ptr<i16> -> tensor<32x!tile.ptr<i16>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<i16>>, tensor<32xi32>
  %old = tile.atomic_rmw add, relaxed, sys, %q, %v : tensor<32x!tile.ptr<i16>>
  return
}
