// Every operation is read as it is printed.
// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: llvm.func @memory
llvm.func @memory(%g: i64, %s: i32, %p: i1, %h: i16, %w: i32, %l: i64) {
  // CHECK: nv.load global %{{.*}} : i64 -> i16
  %b = nv.load global %g {byte} : i64 -> i16
  // CHECK: nv.load global %{{.*}} + -16 if %{{.*}} else %{{.*}}, %{{.*}} : i32, i32 {eviction = #nv<eviction evict_first>} : i64 -> i32, i32
  %v:2 = nv.load global %g + -16 if %p else %w, %w : i32, i32 {eviction = #nv<eviction evict_first>} : i64 -> i32, i32
  // CHECK: nv.load global %{{.*}} {order = #nv<order relaxed>, scope = #nv<scope gpu>} : i64 -> i64
  %r = nv.load global %g {order = #nv<order relaxed>, scope = #nv<scope gpu>} : i64 -> i64
  // CHECK: nv.load shared %{{.*}} + 32 : i32 -> i32, i32, i32, i32
  %u:4 = nv.load shared %s + 32 : i32 -> i32, i32, i32, i32
  // CHECK: nv.store global %{{.*}} + 8, %{{.*}} if %{{.*}} {eviction = #nv<eviction no_allocate>} : i64, i64
  nv.store global %g + 8, %l if %p {eviction = #nv<eviction no_allocate>} : i64, i64
  // CHECK: nv.store shared %{{.*}}, %{{.*}} {byte} : i32, i16
  nv.store shared %s, %h {byte} : i32, i16
  // CHECK: nv.cp_async %{{.*}} + 32, %{{.*}} + 64, 16 read %{{.*}} if %{{.*}}
  nv.cp_async %s + 32, %g + 64, 16 read %w if %p
  // CHECK: nv.cp_async %{{.*}}, %{{.*}}, 4
  nv.cp_async %s, %g, 4
  // CHECK: nv.prefetch_bulk %{{.*}}, %{{.*}} if %{{.*}}
  nv.prefetch_bulk %g, %w if %p
  // CHECK: nv.compare_and_swap %{{.*}}, %{{.*}}, %{{.*}} if %{{.*}} acq_rel sys : i16
  %old = nv.compare_and_swap %g, %h, %h if %p acq_rel sys : i16
  // CHECK: nv.count_shared %{{.*}} by 1 if %{{.*}}
  nv.count_shared %s by 1 if %p
  llvm.return
}

// CHECK-LABEL: llvm.func @matrices
llvm.func @matrices(%s: i32, %w: i32, %f: f32, %d: f64, %l: i64) {
  // CHECK: nv.ldmatrix %{{.*}} + 64 {transposed} : i32, i32, i32, i32
  %m:4 = nv.ldmatrix %s + 64 {transposed} : i32, i32, i32, i32
  // CHECK: nv.stmatrix %{{.*}}, %{{.*}}, %{{.*}}
  nv.stmatrix %s, %w, %w
  // CHECK: nv.mma f16 %{{.*}} : i32, i32, i32, i32 times f16 %{{.*}} : i32, i32 plus %{{.*}} : f32, f32, f32, f32
  %h:4 = nv.mma f16 %w, %w, %w, %w : i32, i32, i32, i32 times f16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  // CHECK: nv.mma si8 %{{.*}} times ui8 %{{.*}} plus %{{.*}} : i32, i32, i32, i32
  %i:4 = nv.mma si8 %w, %w, %w, %w : i32, i32, i32, i32 times ui8 %w, %w : i32, i32 plus %w, %w, %w, %w : i32, i32, i32, i32
  // CHECK: nv.mma f64 %{{.*}} : f64 times f64 %{{.*}} : f64 plus %{{.*}}, %{{.*}} : f64, f64
  %e:2 = nv.mma f64 %d : f64 times f64 %d : f64 plus %d, %d : f64, f64
  // CHECK: nv.mma f64 %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f64, f64, f64, f64 times
  %k:4 = nv.mma f64 %d, %d, %d, %d : f64, f64, f64, f64 times f64 %d, %d : f64, f64 plus %d, %d, %d, %d : f64, f64, f64, f64
  // CHECK: nv.wgmma f16 %{{.*}} : i64 times f16 %{{.*}} plus %{{.*}} : f32, f32, f32, f32 {columns = 8 : i32, leftAlongM, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, steps = 1 : i32, waits}
  %g:4 = nv.wgmma f16 %l : i64 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, leftAlongM, waits}
  // CHECK: nv.wgmma_wait 0, %{{.*}}, %{{.*}} : f32, f32
  %x:2 = nv.wgmma_wait 0, %g#0, %g#1 : f32, f32
  // CHECK: nv.wgmma_wait 1{{$}}
  nv.wgmma_wait 1
  llvm.return
}

// CHECK-LABEL: llvm.func @arithmetic
llvm.func @arithmetic(%f: f32, %d: f64, %w: i32) {
  // CHECK: nv.float_to_int rzi %{{.*}} : f32 to si8 in i16
  %a = nv.float_to_int rzi %f : f32 to si8 in i16
  // CHECK: nv.float_to_int rmi %{{.*}} : f64 to ui64 in i64
  %b = nv.float_to_int rmi %d : f64 to ui64 in i64
  // CHECK: nv.pack_floats %{{.*}}, %{{.*}} to bf16
  %c = nv.pack_floats %f, %f to bf16
  // CHECK: nv.pack_float8 %{{.*}}, %{{.*}} to f8E4M3FN
  %m = nv.pack_float8 %f, %f to f8E4M3FN
  // CHECK: nv.unpack_float8 %{{.*}} of f8E5M2
  %n = nv.unpack_float8 %m of f8E5M2
  // CHECK: nv.pack_saturated %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} to ui8
  %e = nv.pack_saturated %w, %w, %w, %w to ui8
  // CHECK: nv.round_tf32 %{{.*}}
  %g = nv.round_tf32 %w
  // CHECK: nv.approximate ex2 %{{.*}}
  %h = nv.approximate ex2 %f
  // CHECK: nv.divide_full %{{.*}}, %{{.*}}
  %i = nv.divide_full %f, %f
  // CHECK: nv.shift_right %{{.*}}, %{{.*}}
  %j = nv.shift_right %w, %w
  // CHECK: nv.hide_from_assembler %{{.*}} because equal_left_operands
  %k = nv.hide_from_assembler %w because equal_left_operands
  // CHECK: nv.user_assembly "mov.b32 $0, $1;", "=r,r" pure(%{{.*}}) : (i32) -> i32
  %l = nv.user_assembly "mov.b32 $0, $1;", "=r,r" pure (%w) : (i32) -> i32
  llvm.return
}

// CHECK-LABEL: llvm.func @atomics
llvm.func @atomics(%g: i64, %p: i1, %h: i16, %w: i32, %l: i64) {
  // CHECK: nv.atomic fadd %{{.*}} + 16, %{{.*}}, %{{.*}} if %{{.*}} of f32 relaxed gpu : i32, i32 -> i32, i32
  %a:2 = nv.atomic fadd %g + 16, %w, %w if %p of f32 relaxed gpu : i32, i32 -> i32, i32
  // CHECK: nv.atomic exchange %{{.*}}, %{{.*}} of i64 acq_rel sys : i64
  nv.atomic exchange %g, %l of i64 acq_rel sys : i64
  // CHECK: nv.fence gpu
  nv.fence gpu
  llvm.return
}

// CHECK-LABEL: llvm.func @async
llvm.func @async(%s: i32, %m: i64, %x: i32, %mask: i16, %policy: i64, %p: i1) {
  // CHECK: nv.mbarrier_init %{{.*}}, 1
  nv.mbarrier_init %s, 1
  // CHECK: nv.mbarrier_init %{{.*}}, 256 if %{{.*}}
  nv.mbarrier_init %s, 256 if %p
  // CHECK: nv.mbarrier_arrive %{{.*}}{{$}}
  nv.mbarrier_arrive %s
  // CHECK: nv.mbarrier_arrive %{{.*}} of %{{.*}} if %{{.*}}
  nv.mbarrier_arrive %s of %x if %p
  // CHECK: nv.mbarrier_expect_tx %{{.*}}, %{{.*}} if %{{.*}}
  nv.mbarrier_expect_tx %s, %x if %p
  // CHECK: nv.mbarrier_wait %{{.*}}, %{{.*}}
  nv.mbarrier_wait %s, %x
  // CHECK: nv.named_arrive %{{.*}}, 256
  nv.named_arrive %x, 256
  // CHECK: nv.mbarrier_inval %{{.*}} if %{{.*}}
  nv.mbarrier_inval %s if %p
  // CHECK: nv.tma_load %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] signals %{{.*}} multicast %{{.*}} cache %{{.*}} if %{{.*}}
  nv.tma_load %s, %m[%x, %x] signals %s multicast %mask cache %policy if %p
  // CHECK: nv.tma_load %{{.*}}, %{{.*}}[%{{.*}}] signals %{{.*}}
  nv.tma_load %s, %m[%x] signals %s
  // CHECK: nv.tma_store %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} cache %{{.*}} if %{{.*}}
  nv.tma_store %m[%x, %x, %x], %s cache %policy if %p
  // CHECK: nv.prefetch_tensormap %{{.*}} if %{{.*}}
  nv.prefetch_tensormap %m if %p
  llvm.return
}
