// RUN: nereid-opt %s --nv-print-assembly --split-input-file | FileCheck %s

// CHECK-LABEL: llvm.func @matrices
llvm.func @matrices(%s: i32, %w: i32) {
  // CHECK: "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0, $1, $2, $3}, [$4+64];", "=r,=r,=r,=r,r"
  %m:4 = nv.ldmatrix %s + 64 {transposed} : i32, i32, i32, i32
  // CHECK: "stmatrix.sync.aligned.m8n8.x2.shared.b16 [$0+0], {$1, $2};", "r,r,r"
  nv.stmatrix %s, %w, %w
  llvm.return
}

// -----

// Products of a warp are no side effect; those of 8-bit floats need PTX 8.4.
// CHECK-LABEL: llvm.func @products
llvm.func @products(%w: i32, %f: f32, %d: f64) {
  // CHECK: llvm.inline_asm asm_dialect = att "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  %a:4 = nv.mma bf16 %w, %w, %w, %w : i32, i32, i32, i32 times bf16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  // CHECK: llvm.inline_asm asm_dialect = att {nv.ptx_version = 84 : i32} "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
  %b:4 = nv.mma f8E4M3FN %w, %w, %w, %w : i32, i32, i32, i32 times f8E5M2 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  // CHECK: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
  %c:4 = nv.mma tf32 %w, %w, %w, %w : i32, i32, i32, i32 times tf32 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  // CHECK: "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {{.*}}", "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
  %e:4 = nv.mma si8 %w, %w, %w, %w : i32, i32, i32, i32 times ui8 %w, %w : i32, i32 plus %w, %w, %w, %w : i32, i32, i32, i32
  // CHECK: "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$2}, {$3}, {$4, $5};", "=d,=d,d,d,0,1"
  %g:2 = nv.mma f64 %d : f64 times f64 %d : f64 plus %d, %d : f64, f64
  // CHECK: "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
  %h:4 = nv.mma f64 %d, %d, %d, %d : f64, f64, f64, f64 times f64 %d, %d : f64, f64 plus %d, %d, %d, %d : f64, f64, f64, f64
  llvm.return
}

// -----

// Two blocks of 64 rows, two steps: fence, four instructions, commit, wait.
// CHECK-LABEL: llvm.func @descriptors
// CHECK: {nv.warpgroup_product} "{\0A\09.reg .pred p;\0A\09.reg .b64 da, db;\0A\09setp.eq.u32 p, 0, 0;\0A\09wgmma.fence.sync.aligned;
// CHECK-SAME: add.s64 da, $9, 0;\0A\09add.s64 db, $8, 0;\0A\09wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, da, db, p, 1, 1, 0, 1;
// CHECK-SAME: add.s64 da, $9, 2;\0A\09add.s64 db, $8, 64;\0A\09wgmma{{[^{]*}}{$0, $1, $2, $3}
// CHECK-SAME: add.s64 da, $9, 512;\0A\09add.s64 db, $8, 0;\0A\09wgmma{{[^{]*}}{$4, $5, $6, $7}
// CHECK-SAME: add.s64 da, $9, 514;\0A\09add.s64 db, $8, 64;\0A\09wgmma{{[^{]*}}{$4, $5, $6, $7}
// CHECK-SAME: wgmma.commit_group.sync.aligned;\0A\09wgmma.wait_group.sync.aligned 0;\0A\09}", "=f,=f,=f,=f,=f,=f,=f,=f,l,l,0,1,2,3,4,5,6,7"
llvm.func @descriptors(%a: i64, %b: i64, %f: f32) {
  %d:8 = nv.wgmma f16 %a : i64 times f16 %b plus %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32 {columns = 8 : i32, steps = 2 : i32, leftOffsets = array<i32: 0, 2, 512, 514>, leftWords = array<i32>, rightOffsets = array<i32: 0, 64, 0, 64>, rightAlongN, waits}
  llvm.return
}

// -----

// The left operand from registers, in flight until it is waited for.
// CHECK-LABEL: llvm.func @registers
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$5, $6, $5, $7}, db, p, 1, 1, 0;
// CHECK-NOT: wait_group
// CHECK-SAME: "=f,=f,=f,=f,l,r,r,r,0,1,2,3"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 1;", ""  :
llvm.func @registers(%w: i32, %v: i32, %u: i32, %b: i64, %f: f32) {
  %d:4 = nv.wgmma bf16 %w, %v, %u : i32, i32, i32 times bf16 %b plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32: 0, 1, 0, 2>, rightOffsets = array<i32: 0>}
  %e:4 = nv.wgmma_wait 0, %d#0, %d#1, %d#2, %d#3 : f32, f32, f32, f32
  nv.wgmma_wait 1
  llvm.return
}

// -----

// One group for each step of a loop.
// CHECK-LABEL: llvm.func @looped
// CHECK: mov.b64 sa, $5;{{.*}}mov.b64 sb, $4;{{.*}}NEXT:{{.*}}.pragma \22nounroll\22;{{.*}}wgmma.fence
// CHECK-SAME: m64n8k16
// CHECK-SAME: wgmma.commit_group.sync.aligned;{{.*}}add.s64 sa, sa, 2;{{.*}}add.s64 sb, sb, 128;{{.*}}setp.ne.u32 more, step, 4;{{.*}}@more bra NEXT;
// CHECK-NOT: m64n8k16
llvm.func @looped(%a: i64, %b: i64, %f: f32) {
  %d:4 = nv.wgmma f16 %a : i64 times f16 %b plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 4 : i32, leftOffsets = array<i32: 0, 2, 4, 6>, leftWords = array<i32>, rightOffsets = array<i32: 0, 128, 256, 384>, looped}
  llvm.return
}

// -----

// Of other types: no orders of rows, and of integers no factors.
// CHECK-LABEL: llvm.func @types
llvm.func @types(%a: i64, %f: f32, %i: i32) {
  // CHECK: m64n8k8.f32.tf32.tf32 {{{[^}]*}}}, da, db, p, 1, 1;
  %t:4 = nv.wgmma tf32 %a : i64 times tf32 %a plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, waits}
  // CHECK: m64n8k32.f32.e4m3.e5m2 {{{[^}]*}}}, da, db, p, 1, 1;
  %e:4 = nv.wgmma f8E4M3FN %a : i64 times f8E5M2 %a plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, waits}
  // CHECK: m64n8k32.s32.s8.u8 {{{[^}]*}}}, da, db, p;
  %s:4 = nv.wgmma si8 %a : i64 times ui8 %a plus %i, %i, %i, %i : i32, i32, i32, i32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, waits}
  llvm.return
}
