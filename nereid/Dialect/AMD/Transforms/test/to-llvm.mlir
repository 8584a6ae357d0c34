// What LLVM gets of each instruction.
// RUN: nereid-opt %s --amd-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @guarded_load
// CHECK-SAME: (%[[A:.*]]: i64, %[[P:.*]]: i1, %[[O:.*]]: i32)
// CHECK: llvm.cond_br %[[P]], ^bb1, ^bb2(%[[O]] : i32)
// CHECK: ^bb1:
// CHECK: %[[PTR:.*]] = llvm.inttoptr %[[A]] : i64 to !llvm.ptr<1>
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[PTR]][64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK: %[[L:.*]] = llvm.load %[[AT]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: llvm.br ^bb2(%[[L]] : i32)
// CHECK: ^bb2(%[[R:.*]]: i32):
// CHECK: llvm.return %[[R]]
llvm.func @guarded_load(%a: i64, %p: i1, %o: i32) -> i32 {
  %v = amd.load global %a + 64 if %p else %o : i32 : i64 -> i32
  llvm.return %v : i32
}

// Without other values zeros; one vector of all words.
// CHECK-LABEL: llvm.func @words
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-COUNT-4: llvm.extractelement
// CHECK: llvm.mlir.constant(0 : i64)
// CHECK: llvm.cond_br
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64, nontemporal} : !llvm.ptr<1> -> i64
llvm.func @words(%s: i32, %a: i64, %p: i1) {
  %v:4 = amd.load lds %s : i32 -> i32, i32, i32, i32
  %w = amd.load global %a if %p {cache = #amd<cache streamed>} : i64 -> i64
  llvm.return
}

// CHECK-LABEL: llvm.func @bytes
// CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK: llvm.zext %{{.*}} : i8 to i16
// CHECK: llvm.trunc %{{.*}} : i16 to i8
// CHECK: llvm.store %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr<3>
llvm.func @bytes(%a: i64, %s: i32) {
  %b = amd.load global %a {byte} : i64 -> i16
  amd.store lds %s, %b {byte} : i32, i16
  llvm.return
}

// CHECK-LABEL: llvm.func @orders
// CHECK: llvm.load volatile
// CHECK: llvm.load %{{.*}} atomic syncscope("agent") monotonic
// CHECK: llvm.cmpxchg %{{.*}} syncscope("agent") acq_rel acquire
// CHECK: llvm.cmpxchg %{{.*}} release monotonic
llvm.func @orders(%a: i64, %w: i32, %p: i1) {
  %v = amd.load global %a {order = #amd<order volatile>} : i64 -> i32
  %r = amd.load global %a {order = #amd<order relaxed>, scope = #amd<scope agent>} : i64 -> i32
  %c = amd.compare_and_swap %a, %v, %r if %p acq_rel agent : i32
  %d = amd.compare_and_swap %a, %v, %c if %p release system : i32
  llvm.return
}

// Two floats of 16 bits are a vector. Nothing is promised of memory that other
// processors see.
// CHECK-LABEL: llvm.func @updates
// CHECK: llvm.atomicrmw fadd %{{.*}} syncscope("agent") monotonic {{.*}}rocdl.no_fine_grained_memory{{.*}} !llvm.ptr<1>, vector<2xf16>
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{[^ ]*}} monotonic : !llvm.ptr<1>, f32
// CHECK: llvm.atomicrmw umax
// CHECK: llvm.atomicrmw add %{{.*}} syncscope("workgroup") monotonic : !llvm.ptr<3>, i32
llvm.func @updates(%a: i64, %s: i32, %w: i32, %p: i1) {
  %v = amd.atomic fadd %a, %w of f16 relaxed agent : i32 -> i32
  amd.atomic fadd %a, %w if %p of f32 relaxed system : i32
  amd.atomic umax %a, %w of i32 acquire agent : i32
  amd.count_shared %s by 1 if %p
  llvm.return
}

// CHECK-LABEL: llvm.func @conversions
// CHECK: llvm.intr.roundeven
// CHECK: llvm.call_intrinsic "llvm.fptosi.sat"(%{{.*}}) : (f32) -> i8
// CHECK: llvm.sext
// CHECK: llvm.intr.floor
// CHECK: llvm.call_intrinsic "llvm.fptoui.sat"(%{{.*}}) : (f64) -> i64
// CHECK: llvm.call_intrinsic "llvm.amdgcn.exp2"
// CHECK: llvm.fcmp "olt"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.rsq"
llvm.func @conversions(%f: f32, %d: f64) {
  %a = amd.float_to_int nearest %f to si8 : f32 -> i16
  %b = amd.float_to_int down %d to ui64 : f64 -> i64
  %c = amd.approximate exp2 %f
  %e = amd.approximate rsqrt %f
  llvm.return
}

// CHECK-LABEL: llvm.func @program
// CHECK: llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"
// CHECK: llvm.getelementptr %{{.*}}[1] : (!llvm.ptr<4>) -> !llvm.ptr<4>, i32
// CHECK: llvm.load %{{.*}} invariant
// CHECK: llvm.call_intrinsic "llvm.readsteadycounter"
// CHECK: llvm.mlir.constant(14852 : i32)
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.getreg"
llvm.func @program() {
  %a = amd.grid_size 1
  %b = amd.timer
  %c = amd.hardware_register 4 from 8 size 8
  llvm.return
}

// Each matrix instruction by its intrinsic; operands of 16 bits as vectors of them.
// CHECK-LABEL: llvm.func @matrices
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x4f32"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x32.f16"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x32.bf16"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x8.xf32"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f64.16x16x4f64"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.i32.16x16x16i8"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.i32.32x32x16.i8"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.i32.16x16x64.i8"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x32.fp8.bf8"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.f16"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.bf16"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.wmma.i32.16x16x16.iu8"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.bf8.bf8"
llvm.func @matrices(%w: i32, %f: f32, %d: f64) {
  %r0:4 = amd.mfma 16 deep 4 f32 %f : f32 times f32 %f : f32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %r1:4 = amd.mfma 16 deep 16 f16 %w, %w : i32, i32 times f16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %r2:4 = amd.mfma 16 deep 32 f16 %w, %w, %w, %w : i32, i32, i32, i32 times f16 %w, %w, %w, %w : i32, i32, i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %r3:16 = amd.mfma 32 deep 8 bf16 %w, %w : i32, i32 times bf16 %w, %w : i32, i32 plus %f, %f, %f, %f, %f, %f, %f, %f, %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  %r4:4 = amd.mfma 16 deep 32 bf16 %w, %w, %w, %w : i32, i32, i32, i32 times bf16 %w, %w, %w, %w : i32, i32, i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %r5:4 = amd.mfma 16 deep 8 tf32 %f, %f : f32, f32 times tf32 %f, %f : f32, f32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %r6:4 = amd.mfma 16 deep 4 f64 %d : f64 times f64 %d : f64 plus %d, %d, %d, %d : f64, f64, f64, f64
  %r7:4 = amd.mfma 16 deep 16 si8 %w : i32 times si8 %w : i32 plus %w, %w, %w, %w : i32, i32, i32, i32
  %r8:16 = amd.mfma 32 deep 16 si8 %w, %w : i32, i32 times si8 %w, %w : i32, i32 plus %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  %r9:4 = amd.mfma 16 deep 64 si8 %w, %w, %w, %w : i32, i32, i32, i32 times si8 %w, %w, %w, %w : i32, i32, i32, i32 plus %w, %w, %w, %w : i32, i32, i32, i32
  %r10:4 = amd.mfma 16 deep 32 f8E4M3FN %w, %w : i32, i32 times f8E5M2 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %deep:4 = amd.mfma 16 deep 128 f8E4M3FN %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32 times f8E5M2 %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %r11:8 = amd.wmma 16 deep 16 f16 %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32 times f16 %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32 plus %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32
  %r12:8 = amd.wmma 16 deep 16 bf16 %w, %w, %w, %w : i32, i32, i32, i32 times bf16 %w, %w, %w, %w : i32, i32, i32, i32 plus %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32
  %r13:8 = amd.wmma 16 deep 16 ui8 %w, %w, %w, %w : i32, i32, i32, i32 times si8 %w, %w, %w, %w : i32, i32, i32, i32 plus %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32
  %r14:8 = amd.wmma 16 deep 16 f8E5M2 %w, %w : i32, i32 times f8E5M2 %w, %w : i32, i32 plus %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32
  llvm.return
}

// A barrier of LDS alone: its fences leave global memory on its way.
// CHECK-LABEL: llvm.func @lds_barrier
// CHECK-NEXT: llvm.fence syncscope("workgroup") release {llvm.mmra = #[[LOCAL:.*]]}
// CHECK-NEXT: rocdl.s.barrier
// CHECK-NEXT: llvm.fence syncscope("workgroup") acquire {llvm.mmra = #[[LOCAL]]}
llvm.func @lds_barrier() {
  amd.lds_barrier
  llvm.return
}
