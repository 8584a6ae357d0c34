// RUN: nereid-opt %s --nv-print-assembly | FileCheck %s

// CHECK-LABEL: llvm.func @loads
llvm.func @loads(%g: i64, %s: i32, %p: i1, %h: i16, %w: i32, %l: i64) -> i64 {
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "ld.global.b8 {$0}, [$1+0];", "=h,l" %{{.*}} : (i64) -> i16
  %a = nv.load global %g {byte} : i64 -> i16
  // The results get their other value first, so they share no register with
  // the address and the predicate.
  // CHECK: "mov.b32 $0, $4;\0A\09mov.b32 $1, $5;\0A\09@$3 ld.global.L1::evict_first.v2.b32 {$0, $1}, [$2+-16];", "=&r,=&r,l,b,r,r" %{{.*}} : (i64, i1, i32, i32) -> !llvm.struct<(i32, i32)>
  // CHECK-NEXT: llvm.extractvalue %{{.*}}[1]
  %b:2 = nv.load global %g + -16 if %p else %w, %w : i32, i32 {eviction = #nv<eviction evict_first>} : i64 -> i32, i32
  nv.store global %g, %b#1 : i64, i32
  // CHECK: "mov.b64 $0, 0;\0A\09@$2 ld.relaxed.sys.global.b64 {$0}, [$1+0];", "=&l,l,b"
  %c = nv.load global %g if %p {order = #nv<order relaxed>, scope = #nv<scope sys>} : i64 -> i64
  // CHECK: "ld.volatile.global.b64 {$0}, [$1+0];", "=l,l"
  %d = nv.load global %g {order = #nv<order volatile>} : i64 -> i64
  // CHECK: "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4+32];", "=r,=r,=r,=r,r"
  %e:4 = nv.load shared %s + 32 : i32 -> i32, i32, i32, i32
  %x = llvm.or %c, %d : i64
  llvm.return %x : i64
}

// CHECK-LABEL: llvm.func @stores
llvm.func @stores(%g: i64, %s: i32, %p: i1, %h: i16, %w: i32, %l: i64) {
  // CHECK: "@$2 st.global.L1::no_allocate.b64 [$0+8], {$1};", "l,l,b"
  nv.store global %g + 8, %l if %p {eviction = #nv<eviction no_allocate>} : i64, i64
  // CHECK: "st.global.wt.v2.b32 [$0+0], {$1, $2};", "l,r,r"
  nv.store global %g, %w, %w {cache = #nv<cache wt>} : i64, i32, i32
  // CHECK: "st.shared.b8 [$0+0], {$1};", "r,h"
  nv.store shared %s, %h {byte} : i32, i16
  llvm.return
}

// CHECK-LABEL: llvm.func @others
llvm.func @others(%g: i64, %s: i32, %p: i1, %h: i16, %w: i32) -> i16 {
  // CHECK: "@$3 cp.async.cg.shared.global [$0+32], [$1+64], 16, $2;", "r,l,r,b"
  nv.cp_async %s + 32, %g + 64, 16 read %w if %p
  // CHECK: "cp.async.ca.shared.global [$0+0], [$1+0], 4;", "r,l"
  nv.cp_async %s, %g, 4
  // CHECK: "@$2 cp.async.bulk.prefetch.L2.global [$0], $1;", "l,r,b"
  nv.prefetch_bulk %g, %w if %p
  // CHECK: "@$2 red.relaxed.gpu.global.add.f32 [$0+4], $1;", "l,r,b"
  nv.atomic fadd %g + 4, %w if %p of f32 relaxed gpu : i32
  // Vectors came with PTX 8.1.
  // CHECK: {nv.ptx_version = 81 : i32} "red.release.gpu.global.add.noftz.v2.bf16x2 [$0+0], {$1, $2};", "l,r,r"
  nv.atomic fadd %g, %w, %w of bf16 release gpu : i32, i32
  // There is no exchange that returns nothing, and no acquiring one.
  // CHECK: "{\0A\09.reg .b32 t<4>;\0A\09atom.relaxed.gpu.global.exch.b32 t0, [$0+0], $1;\0A\09}", "l,r"
  nv.atomic exchange %g, %w of i32 relaxed gpu : i32
  // CHECK: "{\0A\09.reg .b32 t<4>;\0A\09atom.acq_rel.sys.global.max.s32 t0, [$0+0], $1;\0A\09}", "l,r"
  nv.atomic max %g, %w of i32 acq_rel sys : i32
  // CHECK: "mov.b32 $0, 0;\0A\09mov.b32 $1, 0;\0A\09@$5 atom.relaxed.gpu.global.add.v2.f32 {$0, $1}, [$2+0], {$3, $4};", "=&r,=&r,l,r,r,b"
  %both:2 = nv.atomic fadd %g, %w, %w if %p of f32 relaxed gpu : i32, i32 -> i32, i32
  nv.store global %g, %both#0 : i64, i32
  // CHECK: "fence.acq_rel.gpu;", ""
  nv.fence gpu
  // CHECK: "@$1 red.shared.add.u32 [$0], 1;", "r,b"
  nv.count_shared %s by 1 if %p
  // CHECK: "mov.b16 $0, $2; @$4 atom.acq_rel.gpu.global.cas.b16 $0, [$1], $2, $3;", "=&h,l,h,h,b"
  %old = nv.compare_and_swap %g, %h, %h if %p acq_rel gpu : i16
  llvm.return %old : i16
}
