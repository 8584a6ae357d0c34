// A division that may be approximate is one instruction, by a constant a
// multiplication; others are exact.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @quotients
// CHECK: nv.divide_full
// CHECK: arith.constant 1.250000e-01 : f32
// CHECK: arith.mulf %{{.*}} fastmath<contract>
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: nv.approximate rsqrt
func.func @quotients(%x: !tile.ptr<f32>, %a: f32, %b: f32) attributes {tile.kernel} {
  %eight = arith.constant 8.0 : f32
  %p = arith.divf %a, %b fastmath<afn> : f32
  %q = arith.divf %p, %eight fastmath<afn> : f32
  %r = arith.divf %q, %a : f32
  %s = math.rsqrt %r : f32
  tile.store %x, %s : !tile.ptr<f32>
  return
}
