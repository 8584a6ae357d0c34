// The language's exp is one multiplication and the unit's instruction; the
// exact one takes back what rounding its argument cost.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @exponentials
// CHECK: arith.mulf
// CHECK-NEXT: nv.approximate ex2
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK-COUNT-2: math.fma
// CHECK: nv.approximate ex2
// CHECK-NEXT: math.fma
func.func @exponentials(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %v = tile.load %x : !tile.ptr<f32>
  %a = math.exp %v fastmath<afn> : f32
  tile.store %y, %a : !tile.ptr<f32>
  %b = math.exp %v : f32
  tile.store %y, %b : !tile.ptr<f32>
  return
}
