// RUN: nereid-opt %s --nv-print-assembly | FileCheck %s

// CHECK-LABEL: llvm.func @barriers
llvm.func @barriers(%s: i32, %x: i32, %p: i1) {
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$1 mbarrier.init.shared::cta.b64 [$0], 256;", "r,b"
  nv.mbarrier_init %s, 256 if %p
  // CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];", "r"
  nv.mbarrier_arrive %s
  // The address is one of the cluster's only in the text.
  // CHECK: "{\0A\09.reg .b32 there;\0A\09mapa.shared::cluster.u32 there, $0, $1;\0A\09@$2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\0A\09}", "r,r,b"
  nv.mbarrier_arrive %s of %x if %p
  // CHECK: "@$2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,b"
  nv.mbarrier_expect_tx %s, %x if %p
  // CHECK: "{\0A\09.reg .pred done;\0A\09again:\0A\09mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\0A\09@!done bra again;\0A\09}", "r,r"
  nv.mbarrier_wait %s, %x
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%{{.*}}, %{{.*}})
  nv.named_arrive %x, 256
  // CHECK: "mbarrier.inval.shared::cta.b64 [$0];", "r"
  nv.mbarrier_inval %s
  llvm.return
}

// CHECK-LABEL: llvm.func @copies
llvm.func @copies(%s: i32, %m: i64, %x: i32, %y: i32, %mask: i16, %policy: i64, %p: i1) {
  // CHECK: "@$5 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,b"
  nv.tma_load %s, %m[%x, %y] signals %s if %p
  // CHECK: "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [$0], [$1, {$2}], [$3], $4, $5;", "r,l,r,r,h,l"
  nv.tma_load %s, %m[%x] signals %s multicast %mask cache %policy
  // CHECK: "@$5 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [$0, {$1, $2}], [$3], $4;", "l,r,r,r,l,b"
  nv.tma_store %m[%x, %y], %s cache %policy if %p
  // CHECK: "prefetch.tensormap [$0];", "l"
  nv.prefetch_tensormap %m
  llvm.return
}
