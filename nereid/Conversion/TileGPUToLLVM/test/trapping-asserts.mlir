// An assertion that traps calls the driver, once a thread, and needs no record.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @traps
// CHECK-SAME: (%{{[a-z0-9]+}}: i32)
// CHECK-NOT: llvm.cmpxchg
// CHECK: scf.if
// CHECK: llvm.call @__assertfail
// CHECK-NEXT: }
// CHECK-NOT: llvm.call
func.func @traps(%n: i32) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %c = arith.cmpi slt, %i, %ns : tensor<64xi32>
  tile.assert %c, "too many" {tile.traps} : tensor<64xi1>
  return
}
