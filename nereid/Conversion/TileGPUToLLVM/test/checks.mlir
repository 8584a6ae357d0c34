// Prints and failing checks stand in branches, which end as branches must.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @reports
// CHECK: scf.if
// CHECK: llvm.call @vprintf
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK: llvm.cmpxchg
// CHECK: scf.if
// CHECK: llvm.fence release
// CHECK: llvm.store volatile{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @reports(%n: i32) attributes {tile.kernel} {
  %i = tile.range 0, 16 : tensor<16xi32>
  %ns = tile.splat %n : i32 -> tensor<16xi32>
  tile.print "i" (%i) {dtype = "i32"} : tensor<16xi32>
  %c = arith.cmpi slt, %i, %ns : tensor<16xi32>
  tile.assert %c, "too many" : tensor<16xi1>
  return
}
