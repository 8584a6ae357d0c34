// RUN: nereid-opt --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers))' %s | FileCheck %s --check-prefix=ALLOC
// RUN: nereid-opt --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' %s | FileCheck %s

// The part stands in shared memory, not what it is a part of: 8 floats of 32.
// Each lane holds one element and stores it if it is one of them.
// ALLOC-LABEL: func.func @middle
// ALLOC-SAME: tilegpu.shared_bytes = 32
// ALLOC: tile.slice {{.*}}offsets = array<i32: 4>
// CHECK-LABEL: llvm.func @middle
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %c8_i32
// CHECK: nv.store shared %{{.*}}, %{{.*}} if %[[IN]]
// CHECK: nvvm.barrier
// CHECK: nv.load shared
func.func @middle(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 32 : tensor<32xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %v = tile.load %q : tensor<32x!tile.ptr<f32>>
  %s = tile.slice %v {offsets = array<i32: 4>, strides = array<i32: 1>} : tensor<32xf32> -> tensor<8xf32>
  %j = tile.range 0, 8 : tensor<8xi32>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %j : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  tile.store %yq, %s : tensor<8x!tile.ptr<f32>>
  return
}
