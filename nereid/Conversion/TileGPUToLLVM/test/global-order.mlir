// What one thread stores and all load needs a barrier in between; a tile whose
// elements have one thread each does not.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm --split-input-file | FileCheck %s

// CHECK-LABEL: llvm.func @copies
// CHECK: nv.store global
// CHECK: nvvm.barrier
// CHECK: nv.load global
func.func @copies(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %v = arith.constant dense<1.0> : tensor<32xf32>
  %i = tile.range 0, 32 : tensor<32xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %q, %v : tensor<32x!tile.ptr<f32>>
  %w = tile.load %q : tensor<32x!tile.ptr<f32>>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %s = tile.addptr %r, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %s, %w : tensor<32x!tile.ptr<f32>>
  return
}

// -----

// CHECK-LABEL: llvm.func @own
// CHECK-NOT: nvvm.barrier
func.func @own(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %v = arith.constant dense<1.0> : tensor<128xf32>
  %i = tile.range 0, 128 : tensor<128xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %q, %v : tensor<128x!tile.ptr<f32>>
  %w = tile.load %q : tensor<128x!tile.ptr<f32>>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %s = tile.addptr %r, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %s, %w : tensor<128x!tile.ptr<f32>>
  return
}
