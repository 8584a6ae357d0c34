// RUN: nereid-opt --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm %s | FileCheck %s

// One thread asks, for a multiple of 16 bytes, if that is any.
// CHECK-LABEL: llvm.func @prefetch
// CHECK: %[[N:.*]] = nvvm.read.ptx.sreg.nsmid
// CHECK: %[[BYTES:.*]] = arith.andi %{{.*}}, %c-16_i32
// CHECK: arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK: arith.cmpi ne, %[[BYTES]], %c0_i32
// CHECK: nv.prefetch_bulk %{{.*}}, %[[BYTES]] if %{{.*}}
func.func @prefetch(%x: !tile.ptr<bf16>, %n: i32, %if: i1) attributes {tile.kernel, tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  %count = tilegpu.multiprocessors
  %bytes = arith.addi %count, %n : i32
  tilegpu.prefetch %x, %bytes if %if : !tile.ptr<bf16>
  return
}
