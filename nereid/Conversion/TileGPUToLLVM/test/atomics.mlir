// One atomic operation has the order in it; several have a fence on each side,
// and sums of floats that lie side by side are one instruction from sm_90 on.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_80 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefixes=CHECK,OLD

// CHECK-LABEL: llvm.func @counter
// CHECK: nvvm.barrier
// CHECK-NOT: nv.fence
// CHECK: nv.atomic add %{{.*}}, %{{.*}} if %{{.*}} of i32 acq_rel gpu : i32 -> i32
// CHECK-NOT: nv.fence
// CHECK: nvvm.barrier
func.func @counter(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  %old = tile.atomic_rmw add, acq_rel, gpu, %x, %one : !tile.ptr<i32>
  tile.store %y, %old : !tile.ptr<i32>
  return
}

// -----

// CHECK-LABEL: llvm.func @sums
// CHECK: nvvm.barrier
// CHECK: nv.fence gpu
// NEW: nv.atomic fadd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} of f32 relaxed gpu : i32, i32, i32, i32
// NEW: nv.atomic fadd %{{.*}} + {{.*}} of f32 relaxed gpu : i32, i32, i32, i32
// OLD-COUNT-8: nv.atomic fadd {{.*}} of f32 relaxed gpu : i32
// CHECK-NOT: nv.atomic
// CHECK: nv.fence gpu
// CHECK: nvvm.barrier
func.func @sums(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %v = arith.constant dense<3.0> : tensor<256xf32>
  %i = tile.range 0, 256 : tensor<256xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %old = tile.atomic_rmw fadd, acq_rel, gpu, %q, %v : tensor<256x!tile.ptr<f32>>
  return
}

// -----

// Halves go in pairs everywhere, and no order is no fence.
// CHECK-LABEL: llvm.func @halves
// CHECK-NOT: nv.fence
// NEW: nv.atomic fadd {{.*}} of f16 relaxed gpu : i32, i32, i32, i32
// OLD-COUNT-4: nv.atomic fadd {{.*}} of f16 relaxed gpu : i32{{$}}
// CHECK-NOT: nv.atomic
// CHECK-NOT: nv.fence
func.func @halves(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %v = arith.constant dense<3.0> : tensor<256xf16>
  %i = tile.range 0, 256 : tensor<256xi32>
  %p = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %q = tile.addptr %p, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %old = tile.atomic_rmw fadd, relaxed, gpu, %q, %v : tensor<256x!tile.ptr<f16>>
  return
}
